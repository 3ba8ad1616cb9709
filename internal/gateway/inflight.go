package gateway

import (
	"sync"
	"sync/atomic"
)

// shards keeps calls that begin at the same moment from waiting for one lock.
const shards = 16

// inflight holds the calls of one configuration that have begun and not
// finished. A configuration outlives its last call: what it holds (a reference
// to the State) is let go only when it is closed and empty. Calls may come even
// then, on connections that were open when the next configuration took over;
// the first one takes the reference again.
type inflight struct {
	next  atomic.Uint32
	open  atomic.Int64 // calls under way, plus one until close
	parts [shards]struct {
		mu    sync.Mutex
		calls map[*Call]struct{} // guarded by mu
	}

	hold    func() bool // takes the reference again; false = it is gone for good
	letGo   func()
	mu      sync.Mutex // guards the following, and the steps of open from and to 0
	holding bool
}

func (f *inflight) init(hold func() bool, letGo func()) {
	f.hold, f.letGo, f.holding = hold, letGo, true
	f.open.Store(1)
	for i := range f.parts {
		f.parts[i].calls = make(map[*Call]struct{})
	}
}

// add is false when the configuration is closed and what it held is gone.
func (f *inflight) add(c *Call) bool {
	if !f.enter() {
		return false
	}
	c.shard = f.next.Add(1) % shards
	part := &f.parts[c.shard]
	part.mu.Lock()
	part.calls[c] = struct{}{}
	part.mu.Unlock()
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

func (f *inflight) remove(c *Call) {
	part := &f.parts[c.shard]
	part.mu.Lock()
	delete(part.calls, c)
	part.mu.Unlock()
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

// count is how many calls are under way.
func (f *inflight) count() (n int) {
	f.each(func(*Call) { n++ })
	return n
}

// each calls visit for every call under way.
func (f *inflight) each(visit func(*Call)) {
	for i := range f.parts {
		part := &f.parts[i]
		part.mu.Lock()
		for c := range part.calls {
			visit(c)
		}
		part.mu.Unlock()
	}
}
