package failover

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	failuresInARow = 3 // so many failures cool a target
	enoughAttempts = 5 // so many attempts in the minute, half of them failures, too

	firstCool   = 5 * time.Second // doubles with each cool-down
	longestCool = 30 * time.Second
	lastingCool = 10 * time.Minute // until an operator may have mended it
	coolJitter  = 0.1              // the share of a cool-down that is random

	// MaxRetryAfter bounds the pause that a provider can ask for: its clock may be wrong.
	MaxRetryAfter = 120 * time.Second

	// leaseTime is how long a probe is reserved for the call whose order begins with it. The call may
	// end before its first attempt.
	leaseTime = 5 * time.Second
)

// target is the record of one target.
type target struct {
	id string
	// avoided mirrors cooling, so that ordering healthy targets takes no lock.
	avoided atomic.Bool

	mu        sync.Mutex // guards the following
	forgotten bool       // no longer in the table
	open      int        // trials that have not ended
	used      time.Time  // when the last trial ended

	minute window
	inRow  int // failures
	cooldown

	reported  Class // what was reported as a Change; Success for nothing
	lastClass Class
	succeeded time.Time
	failed    time.Time
}

// cooldown is the time in which calls avoid a target, and the probe after it.
type cooldown struct {
	cooling bool      // calls with another target avoid it
	failing bool      // as cooling, but its calls have no other target
	until   time.Time // the end of the cool-down
	asked   time.Time // the end of the pause that the provider asked for; a success is not earlier
	level   int       // of the next cool-down: firstCool * 2^level
	epoch   int       // the number of cool-downs, of times it began to fail and of recoveries
	probing bool      // a trial is the probe
	leased  time.Time // until when the probe is reserved for a call
}

// begin notes that a trial begins, and reports whether it is the probe.
func (t *target) begin(now time.Time, alone bool) (probe bool) {
	t.open++
	if alone || !t.due(now) {
		return false
	}
	t.probing, t.leased = true, time.Time{}
	return true
}

// due reports whether the target waits for a probe.
func (c *cooldown) due(now time.Time) bool {
	return c.cooling && !c.probing && !now.Before(c.until)
}

// lease reserves the probe for one call, and reports whether it could.
func (c *cooldown) lease(now time.Time) bool {
	if !c.due(now) || now.Before(c.leased) {
		return false
	}
	c.leased = now.Add(leaseTime)
	return true
}

// end notes how a trial ended.
func (h *Health) end(t *target, trial *Trial, r Result, now time.Time, number int64) {
	t.open--
	t.used = now
	if trial.probe {
		t.probing = false
	}
	if r.Class == Neutral {
		return
	}
	t.minute.count(number, r.Class != Success)
	if r.Class == Success {
		t.succeeded, t.inRow = now, 0
		h.recover(t, trial, now, number)
		return
	}
	t.failed, t.lastClass = now, r.Class
	if r.Class == Failure {
		t.inRow++
	}
	unhealthy := r.Class == Lasting || r.Class == Failure && t.mostlyFails(number)
	switch {
	case !trial.alone && (unhealthy || r.Class == RateLimited || r.RetryAfter > 0 || t.cooling):
		h.cool(t, trial, r, now)
	case unhealthy && !t.cooling && !t.failing:
		t.failing = true
		t.epoch++
	}
	if unhealthy && (t.cooling || t.failing) {
		h.report(t, Change{ID: t.id, Class: r.Class, Until: t.until})
	}
}

// pause returns how long a target cools after a failure.
func (h *Health) pause(t *target, r Result) time.Duration {
	switch {
	case r.Class == Lasting:
		return h.shortened(lastingCool)
	case r.RetryAfter > 0:
		asked := min(r.RetryAfter, MaxRetryAfter)
		return min(asked+time.Duration(coolJitter*h.random()*float64(asked)), MaxRetryAfter)
	}
	return h.shortened(min(firstCool<<t.level, longestCool))
}

// shortened takes the jitter off a cool-down, so that longestCool stays the longest.
func (h *Health) shortened(d time.Duration) time.Duration {
	return d - time.Duration(coolJitter*h.random()*float64(d))
}

// cool begins a cool-down or prolongs it; the later end wins. What began before the cool-down is no
// news: it only counts if the provider asked for a longer pause, or the failure lasts.
func (h *Health) cool(t *target, trial *Trial, r Result, now time.Time) {
	old := t.cooling && trial.epoch != t.epoch
	if old && r.Class != Lasting && r.RetryAfter <= 0 {
		return
	}
	until := now.Add(h.pause(t, r))
	if until.After(t.until) {
		t.until = until
	}
	if r.RetryAfter > 0 && r.Class != Lasting && until.After(t.asked) {
		t.asked = until
	}
	if !old {
		t.epoch++
		t.leased = time.Time{}
		if r.RetryAfter <= 0 && firstCool<<t.level < longestCool {
			t.level++
		}
	}
	t.cooling, t.failing = true, false
	t.avoided.Store(true)
}

// recover ends a cool-down because an attempt succeeded that began in it.
func (h *Health) recover(t *target, trial *Trial, now time.Time, number int64) {
	if !t.cooling && !t.failing || trial.epoch != t.epoch || now.Before(t.asked) {
		return
	}
	t.cooling, t.failing = false, false
	t.avoided.Store(false)
	t.until, t.leased = time.Time{}, time.Time{}
	t.inRow, t.minute.from = 0, number+1
	t.level /= 2
	t.epoch++
	h.report(t, Change{ID: t.id, Healthy: true})
}

// report hands out a Change: once when the target becomes unhealthy, and once more if that lasts. A
// pause that the provider asks for is not ill health.
func (h *Health) report(t *target, c Change) {
	if t.reported == c.Class || t.reported == Lasting && !c.Healthy {
		return
	}
	t.reported = c.Class
	h.changed(c)
}

// mostlyFails reports whether a target that answers so is cooled.
func (t *target) mostlyFails(number int64) bool {
	attempts, failures := t.minute.since(number, t.minute.from)
	return t.inRow >= failuresInARow || attempts >= enoughAttempts && 2*failures >= attempts
}

// status is the record as of now.
func (t *target) status(now time.Time, number int64) Status {
	s := Status{
		ID: t.id, State: StateHealthy, Unhealthy: t.reported != Success, LastClass: t.lastClass,
		LastSuccess: t.succeeded, LastFailure: t.failed,
	}
	s.Attempts, s.Failures = t.minute.since(number, 0)
	switch {
	case t.cooling && now.Before(t.until):
		s.State, s.Until = StateCooling, t.until
	case t.cooling:
		s.State = StateProbing
	case t.failing:
		s.State = StateFailing
	}
	return s
}
