package sound

import (
	"bufio"
	"bytes"
	"io"
	"math"
)

// window is how much of a sound is seen at once: at least a page of Ogg.
const window = 1 << 16

// input is a sound that is read from its start to its end.
type input struct {
	buffer *bufio.Reader
	offset uint64 // bytes that were read
	err    error  // why there is no more; [io.EOF] at the end
}

func newInput(r io.Reader, size int) *input { return &input{buffer: bufio.NewReaderSize(r, size)} }

// peek returns the next bytes without reading them: fewer at the end, and at most a window.
func (in *input) peek(n int) []byte {
	b, err := in.buffer.Peek(min(n, in.buffer.Size()))
	if err != nil {
		in.err = err
	}
	return b
}

// take reads so many bytes, nil if there are fewer. They are valid until the next bytes are read.
func (in *input) take(n int) []byte {
	b := in.peek(n)
	if len(b) < n {
		return nil
	}
	in.skip(uint64(n))
	return b
}

// skip passes over so many bytes, and reports whether there were as many.
func (in *input) skip(n uint64) bool {
	passed, err := in.buffer.Discard(int(min(n, math.MaxInt)))
	if in.offset += uint64(passed); err != nil {
		in.err = err
	}
	return uint64(passed) == n
}

// ended reports whether there is no more.
func (in *input) ended() bool { return len(in.peek(1)) == 0 }

// pass reads so many bytes and returns how often one of the words is in them, which all have four bytes.
func (in *input) pass(n uint64, words [][]byte) (found int) {
	for n > 0 {
		b := in.peek(window)
		step := len(b)
		if step == in.buffer.Size() {
			step -= 3
		}
		if step = int(min(uint64(step), n)); step == 0 {
			return found
		}
		for _, w := range words {
			found += bytes.Count(b[:min(step+3, len(b))], w)
		}
		in.skip(uint64(step))
		n -= uint64(step)
	}
	return found
}

// scan calls f at each of the next so many bytes, with what follows it, as far as it was asked to see.
func (in *input) scan(n uint64, ahead int, f func(b []byte)) {
	for n > 0 {
		b := in.peek(window)
		if len(b) == 0 {
			return
		}
		step := len(b)
		if step == in.buffer.Size() {
			step -= ahead
		}
		step = int(min(uint64(step), n))
		for i := range step {
			f(b[i:])
		}
		in.skip(uint64(step))
		n -= uint64(step)
	}
}
