package failover

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// maxTargets bounds the table: where a provider takes any model, callers choose the names. Further
	// targets are healthy, and no record is kept.
	maxTargets = 4096

	// unusedTime is how long the record of a healthy target is kept without an attempt.
	unusedTime = time.Hour
)

// Health keeps the records of targets. It outlives configurations and is safe for concurrent use.
type Health struct {
	now     func() time.Time
	random  func() float64
	changed func(Change)
	began   time.Time // slots are counted from here

	targets sync.Map // of *target by id

	mu    sync.Mutex // guards the following and what is stored in targets
	count int
	swept time.Time
}

// NewHealth returns an empty Health. random returns numbers in [0, 1) and is called concurrently.
// changed gets the changes of a target in their order, those of several targets concurrently. It must
// neither block nor call Health.
func NewHealth(now func() time.Time, random func() float64, changed func(Change)) *Health {
	return &Health{now: now, random: random, changed: changed, began: now()}
}

// slot is the number of a part of a minute, from 1.
func (h *Health) slot(now time.Time) int64 { return 1 + int64(max(now.Sub(h.began), 0)/slotTime) }

func (h *Health) find(id string) *target {
	if found, ok := h.targets.Load(id); ok {
		return found.(*target)
	}
	return nil
}

// Trial is an attempt under way. Its zero value ends without effect.
type Trial struct {
	health *Health
	target *target
	epoch  int
	alone  bool
	probe  bool
	ended  bool
}

// Begin notes that an attempt begins. alone says that the call has no other target: what it meets is
// recorded and cools nothing, and it needs no probe.
func (h *Health) Begin(id string, alone bool) Trial {
	now := h.now()
	t := h.locked(id, now)
	if t == nil {
		return Trial{}
	}
	defer t.mu.Unlock()
	probe := t.begin(now, alone)
	return Trial{health: h, target: t, epoch: t.epoch, alone: alone, probe: probe}
}

// locked returns the record of a target, new if there is none, with its lock held. It is nil if the
// table is full.
func (h *Health) locked(id string, now time.Time) *target {
	for {
		t := h.find(id)
		if t == nil {
			if t = h.add(id, now); t == nil {
				return nil
			}
		}
		t.mu.Lock()
		if !t.forgotten {
			return t
		}
		t.mu.Unlock()
	}
}

func (h *Health) add(id string, now time.Time) *target {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.find(id); t != nil {
		return t
	}
	if now.Sub(h.swept) >= slotTime {
		h.sweep(now)
	}
	if h.count >= maxTargets {
		return nil
	}
	t := &target{id: strings.Clone(id), used: now}
	h.targets.Store(t.id, t)
	h.count++
	return t
}

// sweep forgets what was not used for long, unless it is unhealthy: whoever heard of that waits for the
// recovery. In a table that is full it forgets all without a recent attempt and without a cool-down.
// The caller holds the lock of the table.
func (h *Health) sweep(now time.Time) {
	h.swept = now
	full := h.count >= maxTargets
	most := unusedTime
	if full {
		most = slots * slotTime
	}
	h.targets.Range(func(_, value any) bool {
		t := value.(*target)
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.open == 0 && now.Sub(t.used) >= most && !now.Before(t.until) && (full || t.reported == Success) {
			t.forgotten = true
			h.targets.Delete(t.id)
			h.count--
		}
		return true
	})
}

// FirstContent notes that the answer has begun. A probe has succeeded then: other calls need not
// wait for the end of a long answer, which may still fail.
func (t *Trial) FirstContent() {
	if t.target == nil || t.ended {
		return
	}
	if h := t.health; t.probe || t.target.avoided.Load() {
		now := h.now()
		t.target.mu.Lock()
		defer t.target.mu.Unlock()
		if t.probe {
			t.probe, t.target.probing = false, false
		}
		h.recover(t.target, t, now, h.slot(now))
	}
}

// End notes how the attempt ended. Only the first End counts.
func (t *Trial) End(r Result) {
	if t.target == nil || t.ended {
		return
	}
	t.ended = true
	now := t.health.now()
	t.target.mu.Lock()
	defer t.target.mu.Unlock()
	t.health.end(t.target, t, r, now, t.health.slot(now))
}

// Probe reports whether the attempt is the one that tries a target after its cool-down.
func (t *Trial) Probe() bool { return t.probe }

// RetryLasting makes the targets of a provider that are cooled for what an operator must mend due for
// a probe: its credential or the configuration has changed. "" is all providers.
func (h *Health) RetryLasting(provider string) {
	now := h.now()
	h.targets.Range(func(_, value any) bool {
		t := value.(*target)
		if name, _, _ := strings.Cut(t.id, "/"); provider != "" && name != provider {
			return true
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.cooling && t.reported == Lasting && t.until.After(now) {
			t.until = now
			if t.asked.After(now) {
				t.until = t.asked
			}
		}
		return true
	})
}

// Snapshot returns the records of all targets, ordered by id.
func (h *Health) Snapshot() []Status {
	now := h.now()
	number := h.slot(now)
	var all []Status
	h.targets.Range(func(_, value any) bool {
		t := value.(*target)
		t.mu.Lock()
		defer t.mu.Unlock()
		all = append(all, t.status(now, number))
		return true
	})
	slices.SortFunc(all, func(a, b Status) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
