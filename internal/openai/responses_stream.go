package openai

import (
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxHeldResponse bounds the response object that is kept to end a failed stream with. It repeats
// the request's instructions and tools; a longer one is replaced by a bare object.
const maxHeldResponse = 256 << 10

// ResponsesStream is the [Stream] of the Responses API, the same for clients of OpenAI and
// OpenRouter. Events pass as they came but for the response objects in them, which name the model as
// asked. It ends by a terminal event; a stream without one gets response.failed and an error event.
type ResponsesStream struct {
	responses
	before   int    // shape of the event before, 0 if none may repeat it
	name     []byte // of that event
	held     []byte // the last response object sent
	sequence int64  // the last sequence_number sent
	done     bool   // the terminal event was sent
}

// NewResponsesStream returns the stream of one client. The ids it makes known go to call.OnID;
// IncludeUsage has no meaning here.
func NewResponsesStream(call Call) *ResponsesStream {
	s := responsesStreams.Get().(*ResponsesStream)
	s.call, s.sequence = call, -1
	s.model = jsonscan.AppendString(s.model, call.Model)
	return s
}

var responsesStreams = sync.Pool{New: func() any { return new(ResponsesStream) }}

// Release gives the memory of the stream to others. It is optional; the stream must not be used after
// it.
func (s *ResponsesStream) Release() {
	model, name, held := emptied(s.model, maxScratch), emptied(s.name, maxScratch), emptied(s.held, maxScratch)
	*s = ResponsesStream{responses: responses{model: model}, name: name, held: held}
	responsesStreams.Put(s)
}

// Data implements [Stream].
func (s *ResponsesStream) Data(dst []byte, e *Event) []byte {
	switch {
	case s.skips(e):
		return dst
	case s.repeats(e):
		dst = e.AppendTo(appendEventHead(dst, s.name))
		return append(dst, eventEnd...)
	}
	event, found, bad := s.take(e)
	if bad != nil {
		return s.fail(dst, bad)
	}
	if !found {
		return dst
	}
	name := e.Name
	if len(name) == 0 {
		name = event.typ
	}
	if s.before != 0 {
		s.name = append(s.name[:0], name...)
	}
	dst = appendEventHead(dst, name)
	start := len(dst)
	dst = e.AppendTo(dst)
	if event.response >= 0 {
		m, edits := event.Members[event.response], &e.work.edits
		s.hold(dst[start+edits.moved(m.ValueStart) : start+edits.moved(m.ValueEnd)])
	}
	return append(dst, eventEnd...)
}

// Read takes an event as Data does, and returns what is in it for a client. It is false if there is
// nothing. The result is valid until the event is released.
func (s *ResponsesStream) Read(e *Event) (event ResponsesEvent, found bool, bad *apierror.Error) {
	switch {
	case s.skips(e):
		return event, false, nil
	case s.repeats(e):
		return ResponsesEvent{Repeats: true, Delta: e.Value(VarText)}, true, nil
	}
	if event, found, bad = s.take(e); bad != nil {
		s.fail(nil, bad)
	}
	return event, found, bad
}

// ReadNextWhole has Read return all of the next event, even if it repeats the one before.
func (s *ResponsesStream) ReadNextWhole() { s.before = 0 }

// skips reports whether an event has nothing to read.
func (s *ResponsesStream) skips(e *Event) bool { return s.done || len(e.Data) == 0 || e.Done() }

// repeats reports whether an event repeats the one before, and counts it.
func (s *ResponsesStream) repeats(e *Event) bool {
	if s.before == 0 || !e.repeats || e.shape != s.before {
		return false
	}
	if n, ok := jsonscan.Int(e.Value(VarNumber)); ok {
		s.sequence = n
	}
	return true
}

// hold keeps a response object as the client gets it, unless it is too long.
func (s *ResponsesStream) hold(object []byte) {
	if len(object) > maxHeldResponse {
		s.held = nil
		return
	}
	s.held = append(s.held[:0], object...)
}

// Done implements [Stream].
func (s *ResponsesStream) Done() bool { return s.done }

// Close implements [Stream].
func (s *ResponsesStream) Close(dst []byte, failure *apierror.Error) ([]byte, error) {
	return CloseStream(dst, s.done, s.sum.Err, failure, s.fail)
}

// Summary implements [Stream].
func (s *ResponsesStream) Summary() Summary { return s.sum }

// fail ends the stream with response.failed and then an error event.
func (s *ResponsesStream) fail(dst []byte, e *apierror.Error) []byte {
	s.done, s.sum.Err, s.sum.Finish = true, e, finishError

	body := AppendInt([]byte(`{"type":"response.failed"`), "sequence_number", s.sequence+1)
	body = s.appendFailed(AppendKey(body, "response"), e)
	dst = appendEvent(dst, []byte("response.failed"), append(body, '}'))
	return AppendResponsesError(dst, s.sequence+2, e)
}

// appendFailed appends the last response object as a failed one.
func (s *ResponsesStream) appendFailed(dst []byte, e *apierror.Error) []byte {
	object := s.held
	if len(object) == 0 {
		object = s.bare()
	}
	members := jsonscan.Members(object, nil)
	p := jsonscan.NewPatch(object, members)
	put(p, object, members, "status", []byte(`"failed"`))
	put(p, object, members, "error", AppendResponseFailure(nil, e))
	s.missing(p, object, members)
	s.addMetadata(p, object, members)
	return p.Append(dst)
}

// bare returns a response object with every required key, for a provider that never sent one.
func (s *ResponsesStream) bare() []byte {
	id := s.id
	if id == nil {
		id = jsonscan.AppendString(nil, s.call.ID)
	}
	b := append(AppendValue([]byte{'{'}, "id", id), `,"object":"response"`...)
	b = AppendInt(b, "created_at", s.call.Created)
	b = append(b, `,"status":"failed","error":null,"incomplete_details":null,"instructions":null`...)
	b = AppendValue(b, "model", s.model)
	return append(b, `,"tools":[],"output":[],"parallel_tool_calls":true,"metadata":{},"tool_choice":"auto",`+
		`"temperature":null,"top_p":null,"usage":null}`...)
}
