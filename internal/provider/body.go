package provider

import (
	"bytes"
	"errors"
	"io"
	"math/bits"
	"slices"
	"sync"
)

// maxJoined is the longest body that is copied into one piece. net/http sends such a body together
// with the header in one write. For any other body it sends the header first. For longer bodies the
// copy cost more than the second write (measured at 32 KiB, without a pool for the copies).
const maxJoined = 8 << 10

// joinedPool has the copies of short bodies that were sent.
var joinedPool sync.Pool // of *[]byte

// leastJoined is the room of the smallest of them: most fit the next body, too.
const leastJoined = 1 << 11

// takeJoined returns an empty buffer with room for a short body.
func takeJoined(size int64) *[]byte {
	if b, ok := joinedPool.Get().(*[]byte); ok && int64(cap(*b)) >= size {
		return b
	}
	b := make([]byte, 0, max(leastJoined, 1<<bits.Len64(uint64(size))))
	return &b
}

// Body is a request body in pieces: the caller's bytes with a few edits between them, sent without
// being copied together. It can be read any number of times (a request whose connection died is
// sent again), until it is released.
type Body struct {
	size int64

	delivered bool // at some attempt

	mu     sync.Mutex // guards the following
	joined *[]byte    // a short body; instead of pieces
	pieces [][]byte
	opened int // readers in all
	open   int // readers of pieces that have not reached the end
	free   func()
}

// ErrReleased is returned by Open after Release.
var ErrReleased = errors.New("the request body was released")

// NewBody makes a body from pieces that must not change until free is called: once, when the bytes
// are no longer needed. free may run in NewBody, in Release or on a transport's goroutine. It never
// runs if a reader was abandoned before its end.
func NewBody(pieces [][]byte, free func()) *Body {
	b := &Body{size: sizeOf(pieces), pieces: pieces, free: free}
	if b.size <= maxJoined {
		b.joined = takeJoined(b.size)
		for _, p := range pieces {
			*b.joined = append(*b.joined, p...)
		}
		b.pieces, b.free = nil, nil
		free()
	}
	return b
}

// Size is the length in bytes.
func (b *Body) Size() int64 { return b.size }

// Delivered reports whether a provider may have received the whole request, in any attempt that
// ended without an answer, so that it may have processed it.
func (b *Body) Delivered() bool { return b.delivered }

// Open returns a reader at the first byte. It fails only after Release.
func (b *Body) Open() (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened++
	if b.joined != nil {
		return io.NopCloser(bytes.NewReader(*b.joined)), nil
	}
	if b.pieces == nil {
		return nil, ErrReleased
	}
	b.open++
	return &bodyReader{body: b, pieces: b.pieces}, nil
}

// Release declares that no more readers will be opened, so that the bytes can be freed as soon as
// they are read. Otherwise a connection would hold its request as long as the answer lasts.
func (b *Body) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pieces = nil
	b.freeIfUnused()
}

// sent notes that the request was answered, and that its connection had written all of it before.
// If there was only one reader, nobody reads the copy of a short body any more, and the next body has
// it. The transport opens another reader only before it returns an answer. The first one is read only
// by the goroutine that writes the request; the caller must have seen its note that it has.
func (b *Body) sent() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.joined != nil && b.opened == 1 {
		*b.joined = (*b.joined)[:0]
		joinedPool.Put(b.joined)
		b.joined = nil
	}
}

// Kept is how many bytes stay in memory after Release, until the connection no longer needs the
// request.
func (b *Body) Kept() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.joined == nil {
		return 0
	}
	return int64(len(*b.joined))
}

func (b *Body) finished() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open--
	b.freeIfUnused()
}

func (b *Body) freeIfUnused() {
	if b.pieces == nil && b.open == 0 && b.free != nil {
		b.free()
		b.free = nil
	}
}

type bodyReader struct {
	body   *Body
	pieces [][]byte // the unread pieces; the first may be partly read
	offset int
}

func (r *bodyReader) Read(p []byte) (int, error) {
	if r.pieces == nil {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && len(r.pieces) > 0 {
		c := copy(p[n:], r.pieces[0][r.offset:])
		n += c
		r.offset += c
		if r.offset == len(r.pieces[0]) {
			r.pieces, r.offset = r.pieces[1:], 0
		}
	}
	if len(r.pieces) == 0 {
		r.end()
	}
	return n, nil
}

// rest returns the unread bytes, in a slice that the caller may change.
func (r *bodyReader) rest() [][]byte {
	rest := slices.Clone(r.pieces)
	if len(rest) > 0 {
		rest[0] = rest[0][r.offset:]
	}
	return rest
}

// end notes that all bytes were read.
func (r *bodyReader) end() {
	if r.pieces != nil {
		r.pieces = nil
		r.body.finished()
	}
}

func sizeOf(pieces [][]byte) (size int64) {
	for _, p := range pieces {
		size += int64(len(p))
	}
	return size
}

// Close has no effect: a transport may call it during a Read.
func (r *bodyReader) Close() error { return nil }
