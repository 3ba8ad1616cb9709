// Package watchdog ends waits that take too long.
package watchdog

import (
	"sync"
	"time"
)

// Timer watches one wait at a time: a call first waits for its client's upload, then for its
// provider. Nearly all waits end soon, so the runtime's timer is not stopped with them: it stays set,
// and is set again only for a wait that ends earlier. When it fires it looks at what is waited for
// then. The zero value is ready. Start, Stop and Close are called by one goroutine.
type Timer struct {
	mu       sync.Mutex // guards the following
	timer    *time.Timer
	fires    time.Time // when timer does; zero: it is not set
	deadline time.Time // zero: nothing is waited for
	waiter   Waiter
}

// Waiter is something whose wait can be ended.
type Waiter interface {
	// Expire is called on another goroutine when the wait has taken too long. Stop does not return
	// while it runs.
	Expire()
}

// Start watches a wait of w, instead of the one before.
func (t *Timer) Start(limit time.Duration, w Waiter) {
	deadline := time.Now().Add(limit)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deadline, t.waiter = deadline, w
	if t.fires.IsZero() || deadline.Before(t.fires) {
		t.set(limit)
	}
}

// set sets the timer for the deadline, which is so far away.
func (t *Timer) set(left time.Duration) {
	t.fires = t.deadline
	if t.timer == nil {
		t.timer = time.AfterFunc(left, t.fire)
		return
	}
	t.timer.Reset(left)
}

// Stop ends the watch. After it returns, Expire does not run.
func (t *Timer) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deadline, t.waiter = time.Time{}, nil
}

// Close is Stop where no other wait follows: the runtime holds t no longer.
func (t *Timer) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deadline, t.waiter, t.fires = time.Time{}, nil, time.Time{}
	if t.timer != nil {
		t.timer.Stop()
	}
}

// fire may run late, when its wait is over or another has begun.
func (t *Timer) fire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fires = time.Time{}
	if t.deadline.IsZero() {
		return
	}
	if left := time.Until(t.deadline); left > 0 {
		t.set(left)
		return
	}
	w := t.waiter
	t.deadline, t.waiter = time.Time{}, nil
	w.Expire()
}
