package framebuffer

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// input is bytes of the server, or what a zlib stream within them has. After the first error all that
// is read is zero, so that a decoder looks at err only where it would go on for long.
type input struct {
	r     *bufio.Reader
	have  []byte // the next bytes, which r has too
	at    int    // how many of them were read
	err   error
	spare []byte // for what is longer than the buffer of r
}

// release has r go on behind what was read.
func (in *input) release() {
	_, _ = in.r.Discard(in.at) // it has them
	in.have, in.at = nil, 0
}

// refill waits for at least a byte, and reports whether there is one.
func (in *input) refill() bool {
	in.release()
	if in.err == nil {
		_, err := in.r.Peek(1)
		in.fail(err)
	}
	if in.err == nil {
		in.have, _ = in.r.Peek(in.r.Buffered())
	}
	return in.err == nil
}

// bytes returns the next n bytes, valid until the next call. Callers bound n.
func (in *input) bytes(n int) []byte {
	if n <= len(in.have)-in.at {
		in.at += n
		return in.have[in.at-n : in.at]
	}
	in.release()
	if in.err == nil && n <= in.r.Size() {
		p, err := in.r.Peek(n)
		if err == nil {
			in.have, in.at = p, n
			return p
		}
		in.fail(err)
	}
	if cap(in.spare) < n {
		in.spare = make([]byte, n)
	}
	p := in.spare[:n]
	if in.err == nil {
		_, err := io.ReadFull(in.r, p)
		in.fail(err)
	}
	if in.err != nil {
		clear(p)
	}
	return p
}

func (in *input) u8() byte {
	if in.at == len(in.have) { // small enough to be inlined: each byte of a zlib stream comes this way
		return in.first()
	}
	in.at++
	return in.have[in.at-1]
}

func (in *input) first() byte {
	if !in.refill() {
		return 0
	}
	return in.u8()
}

func (in *input) u16() int { return int(binary.BigEndian.Uint16(in.bytes(2))) }
func (in *input) u32() int { return int(binary.BigEndian.Uint32(in.bytes(4))) }

// skip passes over n bytes, however many.
func (in *input) skip(n int) {
	in.release()
	if in.err == nil {
		_, err := in.r.Discard(n)
		in.fail(err)
	}
}

// fail notes the first error. An end within a message is io.ErrUnexpectedEOF.
func (in *input) fail(err error) {
	if in.err == nil && err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		in.err = err
	}
}

// wrong is the error of bytes that no server may send.
func wrong(format string, args ...any) error {
	return &rfb.Error{Kind: rfb.KindMessage, Step: "reading the workstation's picture", Err: fmt.Errorf(format, args...)}
}
