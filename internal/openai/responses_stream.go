package openai

import (
	"bytes"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxHeldResponse bounds the response object kept to end a failed stream
// with. It echoes the request's instructions and tools; a longer one is
// replaced by a bare object.
const maxHeldResponse = 256 << 10

// ResponsesStream is the [Stream] of the Responses API, the same for both
// families. Events pass as they came but for the response objects in them,
// which name the model as asked. It ends by a terminal event; a stream without
// one gets response.failed and an error event.
type ResponsesStream struct {
	responses
	members  []jsonscan.Member
	held     []byte // the last response object sent
	sequence int64  // the last sequence_number sent
	done     bool   // the terminal event was sent
}

// NewResponsesStream returns the stream of one client. The ids it makes known
// go to call.OnID; IncludeUsage has no meaning here.
func NewResponsesStream(call Call) *ResponsesStream {
	r := responses{call: call, model: jsonscan.AppendString(nil, call.Model)}
	return &ResponsesStream{responses: r, sequence: -1}
}

// event are the places of the members of an event that matter.
type event struct {
	typ, sequence, response, item, err int
}

// Data implements [Stream].
func (s *ResponsesStream) Data(dst, name, data []byte) []byte {
	data = bytes.TrimSpace(data)
	if s.done || len(data) == 0 || bytes.Equal(data, doneMark) {
		return dst
	}
	var err error
	if s.members, err = jsonscan.Lenient(data, s.members[:0]); err != nil {
		return s.fail(dst, s.call.broken("answered what is not JSON").WithCause(err))
	}
	members := s.members
	e := event{-1, -1, -1, -1, -1}
	for i, m := range members {
		switch string(m.DecodedKey(data)) {
		case "type":
			e.typ = i
		case "sequence_number":
			e.sequence = i
		case "response":
			e.response = i
		case "item":
			e.item = i
		case "error":
			if truthy(m.Value(data)) {
				e.err = i
			}
		}
	}
	typ := name
	if e.typ >= 0 && members[e.typ].Kind == '"' {
		value := members[e.typ].Value(data)
		typ = value[1 : len(value)-1]
	}
	switch string(typ) {
	case "keepalive", "ping": // we send our own; no SDK takes one before response.created
		return dst
	case "error":
		e.err = e.typ
	}
	if e.err >= 0 || string(typ) == "error" || string(name) == "error" {
		pe := ParseProviderError(data)
		return s.fail(dst, Fault(pe.streamStatus(), 0, pe, s.call.Redact, s.call.Provider))
	}
	if e.sequence >= 0 {
		if n, ok := jsonscan.Int(members[e.sequence].Value(data)); ok {
			s.sequence = n
		}
	}
	s.sum.Text = s.sum.Text || bytes.HasSuffix(typ, []byte(".delta"))
	if e.item >= 0 && string(typ) == "response.output_item.added" {
		s.reportItem(members[e.item].Value(data))
	}
	if len(name) == 0 {
		name = typ
	}
	if e.response < 0 || members[e.response].Kind != '{' {
		return appendEvent(dst, name, data)
	}

	s.hold(members[e.response].Value(data))
	p := jsonscan.NewPatch(data, members)
	p.Set(e.response, s.held)
	switch string(typ) {
	case "response.completed", "response.incomplete", "response.failed":
		s.done = true
	}
	dst = appendEvent(dst, name, p.Append(nil))
	if len(s.held) > maxHeldResponse {
		s.held = nil
	}
	return dst
}

// hold keeps a response object as the client gets it.
func (s *ResponsesStream) hold(object []byte) {
	s.held = s.edit(object, jsonscan.Members(object, nil)).Append(s.held[:0])
}

// Done implements [Stream].
func (s *ResponsesStream) Done() bool { return s.done }

// Close implements [Stream].
func (s *ResponsesStream) Close(dst []byte, failure *apierror.Error) ([]byte, error) {
	switch {
	case s.done && s.sum.Err != nil:
		return dst, s.sum.Err
	case s.done:
		return dst, nil
	case failure == nil:
		return dst, ErrCut
	}
	return s.fail(dst, failure), failure
}

// Summary implements [Stream].
func (s *ResponsesStream) Summary() Summary { return s.sum }

// fail ends the stream with response.failed and then an error event.
func (s *ResponsesStream) fail(dst []byte, e *apierror.Error) []byte {
	s.done, s.sum.Err, s.sum.Finish = true, e, finishError

	body := append([]byte(nil), `{"type":"response.failed","sequence_number":`...)
	body = appendInt(body, s.sequence+1)
	body = append(body, `,"response":`...)
	body = s.appendFailed(body, e)
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
	put := func(key string, value []byte) {
		if i, ok := jsonscan.Find(object, members, key); ok {
			p.Set(i, value)
		} else {
			p.Add(key, value)
		}
	}
	put("status", []byte(`"failed"`))
	put("error", AppendResponseFailure(nil, e))
	return p.Append(dst)
}

// bare is a response object with every required key, for a provider that
// never sent one.
func (s *ResponsesStream) bare() []byte {
	id := s.id
	if id == nil {
		id = jsonscan.AppendString(nil, s.call.ID)
	}
	b := append([]byte(nil), `{"id":`...)
	b = append(b, id...)
	b = append(b, `,"object":"response","created_at":`...)
	b = appendInt(b, s.call.Created)
	b = append(b, `,"status":"failed","error":null,"incomplete_details":null,"instructions":null,"model":`...)
	b = append(b, s.model...)
	return append(b, `,"tools":[],"output":[],"parallel_tool_calls":true,"metadata":{},"tool_choice":"auto",`+
		`"temperature":null,"top_p":null,"usage":null}`...)
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }
