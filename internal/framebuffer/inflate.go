package framebuffer

import (
	"bufio"
	"compress/flate"
	"errors"
	"io"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

const (
	// window is how far deflate looks back (RFC 1951, section 2).
	window = 32 << 10
	// inflateBuffer holds the pixels of a tile of ZRLE.
	inflateBuffer = 16 << 10
)

// errUsed is that a rectangle's compressed bytes are used up.
var errUsed = errors.New("no compressed data is left")

// stream is a zlib stream (RFC 1950) that goes on from one rectangle to the next. Servers end the data
// of each with a sync flush, which is where a reader can stop and go on: it is reset with what came
// last as its dictionary.
type stream struct {
	from     *input
	left     int // bytes of this rectangle that were not read
	begun    bool
	inflater io.ReadCloser
	past     []byte // what was inflated, at least the last window of it
	plain    input
}

// open has the next n bytes of the server inflated. The returned input has them.
func (s *stream) open(from *input, n int) *input {
	s.from, s.left = from, n
	if s.inflater == nil {
		s.inflater, s.plain.r = flate.NewReader(s), bufio.NewReaderSize(nil, inflateBuffer)
	}
	s.plain.r.Reset((*inflated)(s))
	s.plain.have, s.plain.at, s.plain.err = nil, 0, nil
	if !s.begun && n >= 2 {
		s.begun, s.left, s.past = true, n-2, s.past[:0]
		if head := from.u16(); head>>8&0x0f != 8 || head&0x20 != 0 || head%31 != 0 {
			s.plain.fail(wrong("a zlib stream begins with %04x", head))
		}
	}
	err := s.inflater.(flate.Resetter).Reset(s, s.past[max(0, len(s.past)-window):])
	s.plain.fail(err)
	return &s.plain
}

// close checks that the pixels that were read are all that the rectangle has, no less and no more.
func (s *stream) close() error {
	short := s.plain.err != nil
	long := !short && (s.plain.at < len(s.plain.have) || s.plain.refill())
	switch err := s.plain.err; {
	case s.from.err != nil:
		return s.from.err
	case long:
		return wrong("its compressed data is too long")
	case short && err == errUsed:
		return wrong("its compressed data is too short")
	case err == errUsed:
		return nil
	case rfb.KindOf(err) == rfb.KindMessage:
		return err
	default:
		return wrong("its compressed data: %v", err)
	}
}

// ReadByte hands out the compressed bytes.
func (s *stream) ReadByte() (byte, error) {
	if s.left == 0 {
		return 0, errUsed
	}
	s.left--
	b := s.from.u8()
	return b, s.from.err
}

// Read does the same. The inflater, which reads nothing ahead, uses it for what is only stored.
func (s *stream) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, errUsed
	}
	n := min(len(p), s.left, window)
	s.left -= n
	copy(p, s.from.bytes(n))
	return n, s.from.err
}

// inflated is the plain side of a stream.
type inflated stream

func (s *inflated) Read(p []byte) (int, error) {
	n, err := s.inflater.Read(p)
	if len(s.past)+n > 2*window && len(s.past) > window {
		s.past = s.past[:copy(s.past, s.past[len(s.past)-window:])]
	}
	s.past = append(s.past, p[:n]...)
	return n, err
}

// The streams of a session. Tight has four.
const (
	streamZlib = 4 + iota
	streamZRLE
	streams
)
