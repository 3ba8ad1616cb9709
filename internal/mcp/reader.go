package mcp

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

// Errors of a server's answer. A stream may also end with those of its source.
var (
	ErrContentType = errors.New("the answer is neither application/json nor text/event-stream")
	ErrTooLong     = errors.New("the answer is too long")
)

// Reader reads the messages of an answer: one JSON object, or a stream of events with one each.
type Reader struct {
	// Stream says that the answer is a stream.
	Stream bool

	// Memory bounds what is held of one message; nil for no bound but its length.
	Memory sse.Memory

	body   io.Reader
	max    int
	events sse.Reader
}

// NewReader returns a reader of the answer with the given header and body. A message is at most max
// bytes long. The error is [ErrContentType].
func NewReader(header http.Header, body io.Reader, max int) (*Reader, error) {
	r := &Reader{body: body, max: max}
	switch media, _, _ := mime.ParseMediaType(header.Get("Content-Type")); media {
	case "application/json":
	case "text/event-stream":
		r.Stream = true
		r.events.Reset(body, max)
	default:
		return nil, ErrContentType
	}
	return r, nil
}

// Event is a part of an answer that is passed on in one piece. Its slices are valid until the next
// call of [Reader.Next].
type Event struct {
	// Raw has the bytes as received.
	Raw []byte

	// Message is the text of the message; nil for an event without one, such as a comment or the id
	// that a stream can be resumed at.
	Message []byte

	event *sse.Event // nil of an answer that is no stream
}

// AppendWith appends the event with another message. Other fields of a stream's event stay: its id is
// where a client resumes.
func (e Event) AppendWith(dst, message []byte) []byte {
	if e.event == nil {
		return append(dst, message...)
	}
	return sse.AppendWithData(dst, *e.event, message)
}

// Next returns the next event, and io.EOF after the last. Events with another name than message have
// no message, and no data: clients read of them only where to resume, and when. A message that is longer
// than the bound is [ErrTooLong].
func (r *Reader) Next() (Event, error) {
	if !r.Stream {
		return r.whole()
	}
	r.events.Memory = r.Memory
	event, err := r.events.Next()
	if err == sse.ErrTooLong {
		err = ErrTooLong
	}
	if err != nil {
		return Event{}, err
	}
	e := Event{Raw: event.Raw, event: &event}
	switch {
	case len(event.Data) == 0:
	case len(event.Name) == 0 || string(event.Name) == "message":
		e.Message = event.Data
	default:
		e.Raw = sse.AppendWithData(nil, event, nil)
	}
	return e, nil
}

// Buffered reports whether another event has come already, so that a writer need not flush yet.
func (r *Reader) Buffered() bool { return r.Stream && r.events.Buffered() }

// Release gives the memory of the reader back, at the end of the answer.
func (r *Reader) Release() {
	if r.Stream {
		r.events.Release()
	}
}

// firstRead is how much of an answer is read at first: most fit.
const firstRead = 4 << 10

// whole reads an answer that is no stream.
func (r *Reader) whole() (Event, error) {
	if r.body == nil {
		return Event{}, io.EOF
	}
	text := make([]byte, 0, firstRead)
	for {
		n, err := r.body.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case len(text) > r.max:
			return Event{}, ErrTooLong
		case err == io.EOF:
			r.body = nil
			return Event{Raw: text, Message: text}, nil
		case err != nil:
			return Event{}, err
		case len(text) < cap(text):
			continue
		}
		size := min(2*cap(text), r.max+1)
		if r.Memory != nil {
			if err := r.Memory.Hold(size); err != nil {
				return Event{}, err
			}
		}
		text = append(make([]byte, 0, size), text...)
	}
}
