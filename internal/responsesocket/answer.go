package responsesocket

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// answer is the http.ResponseWriter of a turn. It makes a text frame of each event of a stream, and
// an error event of a refusal. It takes whole events, as the gateway writes them: a line "event:
// NAME" and a line "data: JSON", or a comment.
type answer struct {
	send    func(frames ...[]byte) error
	keep    func(item []byte) // gets each output item as it is whole
	header  http.Header
	status  int
	refusal []byte // the body of one
	frames  [][]byte

	id     string // of the response that is whole; "" before
	failed bool   // the response has failed, and its event was sent
	told   bool   // something was sent
}

// keepalive is in place of a comment: clients count frames, and no pings.
var keepalive = []byte(`{"type":"keepalive"}`)

// maxRefusal bounds the body of a refusal, in bytes: one has a sentence or two.
const maxRefusal = 64 << 10

var errRefusalTooLong = errors.New("the body of a refusal is too long for an event")

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Flush implements [http.Flusher]: each Write has sent its frames.
func (*answer) Flush() {}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.status != http.StatusOK {
		if len(a.refusal)+len(p) > maxRefusal {
			a.refusal = nil
			return 0, errRefusalTooLong
		}
		a.refusal = append(a.refusal, p...)
		return len(p), nil
	}
	a.frames = a.frames[:0]
	for rest := p; len(rest) > 0; {
		var event []byte
		event, rest, _ = bytes.Cut(rest, []byte("\n\n"))
		if frame := a.frame(event); frame != nil {
			a.frames = append(a.frames, frame)
		}
	}
	if len(a.frames) > 0 {
		a.told = true
		if err := a.send(a.frames...); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// frame returns what the client gets for an event, nil for nothing.
func (a *answer) frame(event []byte) []byte {
	name, data := []byte(nil), event
	if rest, ok := bytes.CutPrefix(event, []byte("event: ")); ok {
		name, data, _ = bytes.Cut(rest, []byte("\n"))
	}
	data, ok := bytes.CutPrefix(data, []byte("data: "))
	switch {
	case !ok && len(event) > 0:
		return keepalive
	case !ok:
		return nil
	}
	switch string(name) {
	case "response.output_item.done":
		if item := member(data, "item"); item != nil {
			a.keep(item)
		}
	case "response.completed", "response.incomplete":
		a.id, _ = jsonscan.String(member(member(data, "response"), "id"))
	case "response.failed":
		a.failed = true
	case "error":
		if a.failed { // clients would take it for an error of the next response
			return nil
		}
		a.failed = true
		return streamError(data, a.header)
	}
	return data
}

// end tells the client how a turn has ended, unless its last event has.
func (a *answer) end() {
	if a.status == 0 { // nothing was written
		a.status = http.StatusInternalServerError
	}
	if a.status != http.StatusOK {
		a.failed = true
		_ = a.send(refusalEvent(a.status, a.refusal, a.header)) // else the connection has ended
		return
	}
	if a.status == http.StatusOK && a.id == "" && !a.failed { // our own bug
		a.failed = true
		_ = a.send(errorEvent(apierror.New(apierror.Internal, "the response ended without a terminal event")))
	}
}

// member returns a member of a JSON object, nil if it has none.
func member(object []byte, name string) []byte {
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	for m := range jsonscan.AllMembers(object) {
		if string(m.Key(object)) == name {
			return m.Value(object)
		}
	}
	return nil
}
