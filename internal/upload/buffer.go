package upload

import (
	"math/bits"
	"sync"
)

// Request bodies are read into pooled buffers of a few sizes. Without the pools every long prompt
// costs a zeroed allocation and its collection: a third of the CPU of a 1 MiB request.
const (
	smallestPooled = 4 << 10
	smallestBits   = 12
	largestPooled  = 16 << 20
	sizes          = 13 // 4 KiB … 16 MiB, doubling
)

var pools [sizes]sync.Pool

// bufferSize returns the capacity of the buffer that takeBuffer returns.
func bufferSize(capacity int) int {
	if capacity > largestPooled {
		return capacity
	}
	return max(smallestPooled, 1<<bits.Len(uint(capacity-1)))
}

// takeBuffer returns an empty buffer of at least this capacity.
func takeBuffer(capacity int) []byte {
	size := bufferSize(capacity)
	if size <= largestPooled {
		if b, ok := pools[bits.Len(uint(size))-1-smallestBits].Get().(*[]byte); ok {
			return (*b)[:0]
		}
	}
	return make([]byte, 0, size)
}

// giveBuffer returns a buffer that nothing uses any more.
func giveBuffer(b []byte) {
	if c := cap(b); c >= smallestPooled && c <= largestPooled && c&(c-1) == 0 {
		pools[bits.Len(uint(c))-1-smallestBits].Put(&b)
	}
}
