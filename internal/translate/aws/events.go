// Package aws has what the translations for Amazon Bedrock share: its errors, and the event streams
// of AWS (application/vnd.amazon.eventstream):
//
//	u32 length of all, u32 length of the headers, u32 CRC of these 8 bytes
//	headers: u8 length, name, u8 type (7: a text), u16 length, value
//	payload, u32 CRC of all before
//
// A frame is an event, or the exception or the error that ends the stream.
//
// Sources: botocore 1.44.5, aws-sdk-go-v2 and the pages of Bedrock. Nothing here was tried against
// an account.
package aws

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

const (
	// ContentType is that of a stream.
	ContentType = "application/vnd.amazon.eventstream"

	// MaxFrame bounds a frame, in bytes: the largest known have some MB.
	MaxFrame = 16 << 20
	// leastFrame is the length of a frame without headers and payload.
	leastFrame = 16
	// maxKept is the largest buffer that is kept for the next frame, in bytes.
	maxKept = 64 << 10
)

// Frame is one frame of a stream. It is valid until the next one is read.
type Frame struct {
	Failed  bool   // an exception or an error: nothing follows
	Name    string // of the event, or of the exception
	Message string // of an error, whose payload is empty
	Payload []byte // JSON
}

// Failure is the error of a frame that failed.
func (f Frame) Failure() Failure {
	failure := FailureOf(f.Name, 0, f.Payload)
	failure.Message = cmp.Or(failure.Message, f.Message)
	return failure
}

// Reader reads frames.
type Reader struct {
	from     source
	buffered *bufio.Reader
	decoder  *eventstream.Decoder
	payload  []byte
}

// NewReader returns a reader of the frames in r.
func NewReader(r io.Reader) *Reader {
	made := &Reader{from: source{Reader: r}, decoder: eventstream.NewDecoder()}
	made.buffered = bufio.NewReader(&made.from)
	return made
}

// source remembers why reading failed: the decoder returns errors of its own.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// ErrFrame is wrapped by the error for a frame that cannot be read.
var ErrFrame = errors.New("a frame of AWS is broken")

// Next returns the next frame. The error is io.EOF at the end of the stream, io.ErrUnexpectedEOF
// within a frame, for a broken frame an [ErrFrame], and that of the stream if it cannot be read.
func (r *Reader) Next() (Frame, error) {
	prefix, err := r.buffered.Peek(4)
	if err == io.EOF && len(prefix) > 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return Frame{}, err
	}
	if n := binary.BigEndian.Uint32(prefix); n < leastFrame || n > MaxFrame {
		return Frame{}, fmt.Errorf("%w: it has %d bytes", ErrFrame, n)
	}
	if cap(r.payload) > maxKept {
		r.payload = nil
	}
	m, err := r.decoder.Decode(r.buffered, r.payload[:0])
	switch {
	case err == nil:
	case r.from.err != nil:
		return Frame{}, r.from.err
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return Frame{}, io.ErrUnexpectedEOF
	default:
		return Frame{}, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	r.payload = m.Payload
	f := Frame{Payload: m.Payload}
	switch typ := text(m, ":message-type"); typ {
	case "event":
		f.Name = text(m, ":event-type")
	case "exception":
		f.Failed, f.Name = true, text(m, ":exception-type")
	case "error":
		f.Failed, f.Name, f.Message = true, text(m, ":error-code"), text(m, ":error-message")
	default:
		return Frame{}, fmt.Errorf("%w: its type is %.32q", ErrFrame, typ)
	}
	return f, nil
}

// text returns a header that is a text, "" for none.
func text(m eventstream.Message, name string) string {
	value, ok := m.Headers.Get(name).(eventstream.StringValue)
	if !ok {
		return ""
	}
	return string(value)
}

// Received reports whether the whole of the next frame has come.
func (r *Reader) Received() bool {
	n := r.buffered.Buffered()
	if n < 4 {
		return false
	}
	prefix, _ := r.buffered.Peek(4)
	return uint64(n) >= uint64(binary.BigEndian.Uint32(prefix))
}
