package provider

import (
	"errors"
	"io"
	"sync"
)

// Body is a request body in pieces: the caller's own bytes with the few edits
// between them, sent without being copied together. It can be read any number
// of times (a connection that broke before the first byte is tried anew).
type Body struct {
	size int64

	mu     sync.Mutex // guards the following
	pieces [][]byte
}

// ErrReleased is returned by Open after Release.
var ErrReleased = errors.New("the request body was released")

// NewBody takes ownership of the pieces; they must not change while a request
// is under way.
func NewBody(pieces ...[]byte) *Body {
	b := &Body{pieces: pieces}
	for _, p := range pieces {
		b.size += int64(len(p))
	}
	return b
}

// Size is the length in bytes.
func (b *Body) Size() int64 { return b.size }

// Open returns a reader from the first byte. It fails only after Release.
func (b *Body) Open() (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pieces == nil && b.size > 0 {
		return nil, ErrReleased
	}
	return &bodyReader{pieces: b.pieces}, nil
}

// Release lets the bytes go as soon as no open reader needs them: a connection
// holds on to its request for as long as the answer lasts.
func (b *Body) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pieces = nil
}

type bodyReader struct {
	pieces [][]byte // what is still to read; the first may be partly read
	offset int
}

func (r *bodyReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && len(r.pieces) > 0 {
		c := copy(p[n:], r.pieces[0][r.offset:])
		n += c
		r.offset += c
		if r.offset == len(r.pieces[0]) {
			r.pieces, r.offset = r.pieces[1:], 0
		}
	}
	if len(r.pieces) > 0 {
		return n, nil
	}
	r.pieces = nil // what was sent can go, though the connection keeps the reader
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// WriteTo hands the pieces over whole, which saves the copy buffer.
func (r *bodyReader) WriteTo(w io.Writer) (int64, error) {
	var sent int64
	for len(r.pieces) > 0 {
		n, err := w.Write(r.pieces[0][r.offset:])
		sent += int64(n)
		if err != nil {
			return sent, err
		}
		r.pieces, r.offset = r.pieces[1:], 0
	}
	r.pieces = nil
	return sent, nil
}

// Close does nothing: a transport may call it while a Read is under way.
func (r *bodyReader) Close() error { return nil }
