package gateway

import (
	"context"
	"sync"
	"sync/atomic"
)

// shards keeps calls that begin at the same moment from waiting for one lock.
const shards = 16

// running is one call or desktop session under way.
type running struct {
	part   *part                   // where it is listed
	cancel context.CancelCauseFunc // guarded by part.mu; nil while there is nothing to cancel
}

// part is the share of what is under way that has one lock.
type part struct {
	mu  sync.Mutex
	all map[*running]struct{} // guarded by mu
}

// inflight holds the calls and sessions of one configuration that have begun
// and not finished. A configuration outlives its last call: it releases what it
// holds (a reference to the State) only when it is closed and empty. Calls may
// come even then, on connections that were open when the next configuration took
// over; the first one takes the reference again.
type inflight struct {
	next  atomic.Uint32
	open  atomic.Int64 // what is under way, plus one until close
	parts [shards]part

	hold    func() bool // takes the reference again; false = it is gone for good
	letGo   func()
	mu      sync.Mutex // guards the following, and the steps of open from and to 0
	holding bool
}

func (f *inflight) init(hold func() bool, letGo func()) {
	f.hold, f.letGo, f.holding = hold, letGo, true
	f.open.Store(1)
	for i := range f.parts {
		f.parts[i].all = make(map[*running]struct{})
	}
}

// add reports whether r could be listed: it is false when the configuration is
// closed and what it held is gone.
func (f *inflight) add(r *running) bool {
	if !f.enter() {
		return false
	}
	r.part = &f.parts[f.next.Add(1)%shards]
	r.part.mu.Lock()
	r.part.all[r] = struct{}{}
	r.part.mu.Unlock()
	return true
}

func (f *inflight) enter() bool {
	for n := f.open.Load(); n > 0; n = f.open.Load() {
		if f.open.CompareAndSwap(n, n+1) {
			return true
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.holding {
		if !f.hold() {
			return false
		}
		f.holding = true
	}
	f.open.Add(1)
	return true
}

func (f *inflight) remove(r *running) {
	r.part.mu.Lock()
	delete(r.part.all, r)
	r.part.mu.Unlock()
	f.leave()
}

func (f *inflight) leave() {
	if f.open.Add(-1) > 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holding && f.open.Load() == 0 { // no call came meanwhile
		f.holding = false
		f.letGo()
	}
}

// count is how many calls and sessions are under way.
func (f *inflight) count() (n int) {
	for i := range f.parts {
		part := &f.parts[i]
		part.mu.Lock()
		n += len(part.all)
		part.mu.Unlock()
	}
	return n
}

// interrupt cancels all that is under way, and reports whether there was anything.
func (f *inflight) interrupt(cause error) (any bool) {
	for i := range f.parts {
		part := &f.parts[i]
		part.mu.Lock()
		for r := range part.all {
			if any = true; r.cancel != nil {
				r.cancel(cause)
			}
		}
		part.mu.Unlock()
	}
	return any
}
