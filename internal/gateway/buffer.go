package gateway

import (
	"math/bits"
	"sync"
)

// Request bodies are read into buffers of a few sizes that are used again:
// without that, every long prompt is zeroed and collected anew (measured: a
// third of the CPU of a 1 MiB request).
const (
	smallestShared = 4 << 10
	smallestBits   = 12
	largestShared  = 16 << 20
	sizes          = 13 // 4 KiB … 16 MiB, doubling
)

var shared [sizes]sync.Pool

// bufferSize is the capacity of the buffer that takeBuffer returns for it.
func bufferSize(capacity int) int {
	if capacity > largestShared {
		return capacity
	}
	return max(smallestShared, 1<<bits.Len(uint(capacity-1)))
}

// takeBuffer returns an empty buffer of at least this capacity.
func takeBuffer(capacity int) []byte {
	size := bufferSize(capacity)
	if size <= largestShared {
		if b, ok := shared[bits.Len(uint(size))-1-smallestBits].Get().(*[]byte); ok {
			return (*b)[:0]
		}
	}
	return make([]byte, 0, size)
}

// giveBuffer takes a buffer back that nobody uses any more.
func giveBuffer(b []byte) {
	if c := cap(b); c >= smallestShared && c <= largestShared && c&(c-1) == 0 {
		shared[bits.Len(uint(c))-1-smallestBits].Put(&b)
	}
}
