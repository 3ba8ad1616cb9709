package desktop

import (
	"sync/atomic"
	"time"
)

// lift has what a person holds down come up.
type lift struct {
	release atomic.Pointer[func() (any bool)] // nil: it holds nothing
	done    chan struct{}                     // closed when an agent may follow; nil: it never ran. the lock guards it
}

// OnReturned has release called, in a goroutine of its own, when an agent may act where a person
// could: it releases the keys and buttons that the person holds down, unless a person has the input
// again, and reports whether there were any. The agent's first event waits for it.
func (i *Input) OnReturned(release func() (any bool)) { i.lift.release.Store(&release) }

// lift begins the lifts of persons; h is locked. One whose workstation takes nothing is under way
// for long: it is not begun again.
func (h *inputLock) lift(here []*Session) {
	h.lifts = nil
	for _, x := range here {
		l := &x.Input.lift
		release := l.release.Load()
		if release == nil {
			continue
		}
		h.lifts = append(h.lifts, l)
		if l.done != nil {
			select {
			case <-l.done:
			default:
				continue
			}
		}
		done := make(chan struct{})
		l.done = done
		go func() {
			defer close(done)
			if (*release)() {
				time.Sleep(releaseGap)
			}
		}()
	}
}

// follow waits for lifts before an agent acts, acknowledgeWithin at most. The workstation gets the
// agent's events by another connection.
func (h *inputLock) follow() {
	h.mu.Lock()
	var lifted []<-chan struct{}
	for _, l := range h.lifts {
		lifted = append(lifted, l.done)
	}
	h.lifts = nil
	h.mu.Unlock()
	within(acknowledgeWithin, lifted...)
}

// within waits until all are closed, for a time at most.
func within(most time.Duration, closed ...<-chan struct{}) {
	late := time.NewTimer(most)
	defer late.Stop()
	for _, c := range closed {
		select {
		case <-c:
		case <-late.C:
			return
		}
	}
}
