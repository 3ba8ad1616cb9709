// Package inflight knows the calls and desktop sessions of one configuration that have begun and
// not ended.
//
//	set.Init(acquire, release)   // the configuration holds a reference
//	if !set.Add(&entry) { … }    // false: refuse, the configuration is gone
//	defer set.Remove(&entry)
//	entry.SetCancel(cancel)      // once there is something to cancel
//	set.Close()                  // the configuration ends; what is under way goes on
//
// A configuration outlives its last call: the Set releases the reference when it is closed and
// empty. A call may come even then, on a connection that was open when the next configuration took
// over. The first such call acquires the reference again.
package inflight

import (
	"context"
	"sync"
	"sync/atomic"
)

// shards keep calls that begin at the same moment from waiting for one lock.
const shards = 16

// Set is what is under way of one configuration. Its methods may be called by any goroutine.
type Set struct {
	next   atomic.Uint32
	refs   atomic.Int64 // one for each entry, and one until Close
	shards [shards]shard

	acquire  func() bool
	release  func()
	mu       sync.Mutex // guards the following, and the steps of refs from and to 0
	acquired bool
}

// shard is the share of a Set that has one lock.
type shard struct {
	mu      sync.Mutex // guards the following
	entries map[*Entry]struct{}
	cause   error // of Interrupt; nil before it
}

// Entry is one call or session. It is embedded in the struct of its owner, one goroutine, which
// alone calls its methods.
type Entry struct {
	shard  *shard                  // set by Add
	cancel context.CancelCauseFunc // nil while there is nothing to cancel; shard.mu guards it from Interrupt
}

// Init begins an empty Set, whose configuration holds the reference. Release gives the reference
// back. Acquire takes it again; it returns false if that is not possible any more. Neither runs
// while the other does.
func (s *Set) Init(acquire func() bool, release func()) {
	s.acquire, s.release, s.acquired = acquire, release, true
	s.refs.Store(1)
	for i := range s.shards {
		s.shards[i].entries = make(map[*Entry]struct{})
	}
}

// Add lists e. It reports false, and e is not listed, if the Set is closed and empty and its
// reference cannot be acquired again.
func (s *Set) Add(e *Entry) bool {
	if !s.ref() {
		return false
	}
	e.shard = &s.shards[s.next.Add(1)%shards]
	e.shard.mu.Lock()
	e.shard.entries[e] = struct{}{}
	e.shard.mu.Unlock()
	return true
}

// Remove ends an entry that Add has listed.
func (s *Set) Remove(e *Entry) {
	e.shard.mu.Lock()
	delete(e.shard.entries, e)
	e.shard.mu.Unlock()
	s.unref()
}

// Close lets the Set release its reference when it is empty, or at once. It is called once.
func (s *Set) Close() { s.unref() }

// Len returns how many entries are listed.
func (s *Set) Len() (n int) {
	for i := range s.shards {
		shard := &s.shards[i]
		shard.mu.Lock()
		n += len(shard.entries)
		shard.mu.Unlock()
	}
	return n
}

// Interrupt cancels every entry, also one that is added later. It reports whether any was listed.
func (s *Set) Interrupt(cause error) (found bool) {
	for i := range s.shards {
		shard := &s.shards[i]
		shard.mu.Lock()
		shard.cause = cause
		for e := range shard.entries {
			found = true
			e.Cancel(cause)
		}
		shard.mu.Unlock()
	}
	return found
}

// SetCancel says how an entry that is listed is cancelled. If the Set was interrupted before,
// cancel runs at once.
func (e *Entry) SetCancel(cancel context.CancelCauseFunc) {
	e.shard.mu.Lock()
	e.cancel = cancel
	cause := e.shard.cause
	e.shard.mu.Unlock()
	if cause != nil {
		cancel(cause)
	}
}

// Cancel cancels what SetCancel has named, if anything.
func (e *Entry) Cancel(cause error) {
	if e.cancel != nil {
		e.cancel(cause)
	}
}

func (s *Set) ref() bool {
	for n := s.refs.Load(); n > 0; n = s.refs.Load() {
		if s.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.acquired {
		if !s.acquire() {
			return false
		}
		s.acquired = true
	}
	s.refs.Add(1)
	return true
}

func (s *Set) unref() {
	if s.refs.Add(-1) == 0 {
		s.releaseUnused()
	}
}

// releaseUnused releases the reference, unless an entry has come since the last one went.
func (s *Set) releaseUnused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.acquired && s.refs.Load() == 0 {
		s.acquired = false
		s.release()
	}
}
