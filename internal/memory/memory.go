// Package memory bounds the bytes that the process holds for its clients and providers.
package memory

import (
	"context"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Semaphore is a weighted semaphore of bytes. Its zero value has none to take. It is safe for
// concurrent use, and uncontended it takes no lock.
type Semaphore struct {
	used  atomic.Int64
	limit atomic.Int64

	waited atomic.Bool // given is not nil
	mu     sync.Mutex  // guards the following
	given  chan struct{}
}

// maxDefault is the default bound if no memory limit is set for the process.
const maxDefault = 1 << 30

// Default returns the lesser of 1 GiB and a quarter of GOMEMLIMIT, but at least least bytes.
func Default(least int64) int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return max(maxDefault, least)
	}
	return max(min(maxDefault, limit/4), least)
}

// SetLimit changes the bound. What is held above a lowered bound is given back as calls finish.
func (s *Semaphore) SetLimit(bytes int64) {
	s.limit.Store(bytes)
	s.wake()
}

// Limit returns the bound.
func (s *Semaphore) Limit() int64 { return s.limit.Load() }

// Take reserves n bytes, or nothing and false. It never waits.
func (s *Semaphore) Take(n int64) bool { return s.TakeLeaving(0, n) }

// TakeLeaving is Take that leaves so many eighths of the bound for others.
func (s *Semaphore) TakeLeaving(eighths, n int64) bool {
	limit := s.limit.Load()
	limit -= eighths * (limit / 8)
	for {
		used := s.used.Load()
		if used+n > limit {
			return false
		}
		if s.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// Wait is Take that waits, at most so long, until others give enough back or ctx ends. Those that
// wait have no order.
func (s *Semaphore) Wait(ctx context.Context, n int64, atMost time.Duration) bool {
	if s.Take(n) {
		return true
	}
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	for {
		given := s.next()
		if s.Take(n) {
			return true
		}
		select {
		case <-given:
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// next returns what is closed when bytes are given back.
func (s *Semaphore) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.given == nil {
		s.given = make(chan struct{})
		s.waited.Store(true)
	}
	return s.given
}

func (s *Semaphore) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.given != nil {
		close(s.given)
		s.given = nil
		s.waited.Store(false)
	}
}

// Give returns n bytes taken before.
func (s *Semaphore) Give(n int64) {
	s.used.Add(-n)
	if n > 0 && s.waited.Load() {
		s.wake()
	}
}

// Used returns how many bytes are held now.
func (s *Semaphore) Used() int64 { return s.used.Load() }
