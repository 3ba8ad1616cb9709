package provider

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// maxJoined is the longest body that is copied into one piece. net/http sends
// a body that it knows to lie in memory together with the header in one write;
// for any other it sends the header first. The copy is garbage afterwards: for
// longer bodies collecting it costs more than that write (measured at 32 KiB).
const maxJoined = 8 << 10

// Body is a request body in pieces: the caller's own bytes with the few edits
// between them, sent without being copied together. It can be read any number
// of times (a request whose connection died is sent again), until it is released.
type Body struct {
	size   int64
	joined []byte // of a short body, instead of pieces

	delivered bool // by some attempt

	mu     sync.Mutex // guards the following
	pieces [][]byte
	open   int // readers that are not at their end
	free   func()
}

// ErrReleased is returned by Open after Release.
var ErrReleased = errors.New("the request body was released")

// NewBody makes a body of the pieces, which must not change until free is
// called: once, when the bytes are needed no more. It may run in NewBody, in
// Release or on a transport's goroutine; it never runs if a reader was left
// before its end.
func NewBody(pieces [][]byte, free func()) *Body {
	b := &Body{pieces: pieces, free: free}
	for _, p := range pieces {
		b.size += int64(len(p))
	}
	if b.size <= maxJoined {
		b.joined = make([]byte, 0, b.size)
		for _, p := range pieces {
			b.joined = append(b.joined, p...)
		}
		b.pieces, b.free = nil, nil
		free()
	}
	return b
}

// Size is the length in bytes.
func (b *Body) Size() int64 { return b.size }

// Delivered reports whether a provider can have got the whole request, at any attempt that
// ended without an answer, so that it may have worked on it.
func (b *Body) Delivered() bool { return b.delivered }

// Open returns a reader from the first byte. It fails only after Release.
func (b *Body) Open() (io.ReadCloser, error) {
	if b.joined != nil {
		return io.NopCloser(bytes.NewReader(b.joined)), nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pieces == nil {
		return nil, ErrReleased
	}
	b.open++
	return &bodyReader{body: b, pieces: b.pieces}, nil
}

// Release tells that no reader will be opened any more, so that the bytes can
// go as soon as they are read: a connection holds on to its request for as long
// as the answer lasts.
func (b *Body) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pieces = nil
	b.freeIfUnused()
}

// Kept is how many bytes stay in memory, after Release, until the connection
// has done with the request.
func (b *Body) Kept() int64 { return int64(len(b.joined)) }

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
	pieces [][]byte // what is still to read; the first may be partly read
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
		r.pieces = nil
		r.body.finished()
	}
	return n, nil
}

// Close does nothing: a transport may call it while a Read is under way.
func (r *bodyReader) Close() error { return nil }
