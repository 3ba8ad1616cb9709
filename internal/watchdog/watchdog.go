// Package watchdog ends waits that take too long.
package watchdog

import (
	"sync"
	"time"
)

// Timer watches one wait at a time: a call first waits for its client's upload, then for its
// provider. One timer that is set again costs a third of a deadline set and removed for each read.
// The zero value is ready. Start and Stop are called by one goroutine.
type Timer struct {
	mu       sync.Mutex // guards the following
	timer    *time.Timer
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
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deadline, t.waiter = time.Now().Add(limit), w
	if t.timer == nil {
		t.timer = time.AfterFunc(limit, t.fire)
		return
	}
	t.timer.Reset(limit)
}

// Stop ends the watch. After it returns, Expire does not run.
func (t *Timer) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deadline, t.waiter = time.Time{}, nil
	if t.timer != nil {
		t.timer.Stop()
	}
}

// fire may run late, when its wait is over or another has begun.
func (t *Timer) fire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.deadline.IsZero() || time.Now().Before(t.deadline) {
		return
	}
	t.waiter.Expire()
}
