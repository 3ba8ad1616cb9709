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
	err   error
	spare []byte // for what is longer than the buffer of r
}

// bytes returns the next n bytes, valid until the next call. Callers bound n.
func (in *input) bytes(n int) []byte {
	if in.err == nil && n <= in.r.Size() {
		p, err := in.r.Peek(n)
		if err == nil {
			_, _ = in.r.Discard(n) // it has them
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
	if in.err != nil {
		return 0
	}
	b, err := in.r.ReadByte()
	in.fail(err)
	return b
}

func (in *input) u16() int { return int(binary.BigEndian.Uint16(in.bytes(2))) }
func (in *input) u32() int { return int(binary.BigEndian.Uint32(in.bytes(4))) }

// skip passes over n bytes, however many.
func (in *input) skip(n int) {
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
