package gateway

import (
	"math"
	"runtime/debug"
	"sync/atomic"
)

// Memory bounds the bytes of all request bodies that are held at one time, in
// the whole process. It never waits: a full memory is an answer to the caller
// (429 gateway_busy), not a queue of half-read uploads.
type Memory struct {
	used  atomic.Int64
	limit atomic.Int64
}

// maxDefaultMemory is the default bound where no memory limit is set for the process.
const maxDefaultMemory = 1 << 30

// MinBodyMemory lets one body of the largest size in: while it grows, a
// buffer and the next larger one exist.
const MinBodyMemory = 2 * MaxBody

// DefaultBodyMemory is the lesser of 1 GiB and a quarter of GOMEMLIMIT, but not
// less than MinBodyMemory.
func DefaultBodyMemory() int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return maxDefaultMemory
	}
	return max(min(maxDefaultMemory, limit/4), MinBodyMemory)
}

// SetLimit changes the bound; what is held above a lower one is let go by and by.
func (m *Memory) SetLimit(bytes int64) { m.limit.Store(bytes) }

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

// Used is what is held now, in bytes.
func (m *Memory) Used() int64 { return m.used.Load() }
