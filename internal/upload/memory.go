package upload

import (
	"math"
	"runtime/debug"
	"sync/atomic"
)

// Memory bounds the bytes of all request bodies that are held at one time in the process. It never
// waits: when it is full, the caller gets 429 gateway_busy and does not join a queue of half-read
// uploads.
type Memory struct {
	used  atomic.Int64
	limit atomic.Int64
}

// maxDefault is the default bound if no memory limit is set for the process.
const maxDefault = 1 << 30

// MinMemory is enough for one body of the largest size: while it grows, its buffer and the next
// larger one exist.
const MinMemory = 2 * MaxBody

// DefaultMemory returns the lesser of 1 GiB and a quarter of GOMEMLIMIT, but at least MinMemory.
func DefaultMemory() int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return maxDefault
	}
	return max(min(maxDefault, limit/4), MinMemory)
}

// SetLimit changes the bound. Memory above a lowered bound is released as calls finish.
func (m *Memory) SetLimit(bytes int64) { m.limit.Store(bytes) }

// Limit returns the bound.
func (m *Memory) Limit() int64 { return m.limit.Load() }

// Take reserves n bytes, or nothing and false.
func (m *Memory) Take(n int64) bool {
	if m.used.Add(n) > m.limit.Load() {
		m.used.Add(-n)
		return false
	}
	return true
}

// Give returns n bytes taken before.
func (m *Memory) Give(n int64) { m.used.Add(-n) }

// Used returns how many bytes are held now.
func (m *Memory) Used() int64 { return m.used.Load() }
