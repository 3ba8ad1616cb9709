package openai

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ResponsesEvent is what the repair knows of an event: what a translation reads instead of the text
// that a client of the Responses API gets. Values are valid until the [Event] is released.
type ResponsesEvent struct {
	// Repeats reports that the event differs from the one before in its delta only. Then the rest
	// is empty.
	Repeats bool
	Delta   []byte // JSON, nil for none

	Data    []byte
	Members []jsonscan.Member

	// Of the response object in the event, nil without one. ID is the id that the client gets, as
	// JSON; nil if the response has none.
	Response        []byte
	ResponseMembers []jsonscan.Member
	ID              []byte

	typ []byte // without quotes; the name of the event if it has no type

	// The indexes of members, -1 for none.
	response, sequence, item, delta, padding int
}

// readEvent finds what matters in an event. It returns false for one that no client gets.
func (s *ResponsesStream) readEvent(e *Event) (event ResponsesEvent, found bool, bad *apierror.Error) {
	members, err := e.Members()
	if err != nil {
		return event, false, s.call.Broken("answered what is not JSON").WithCause(err)
	}
	event = ResponsesEvent{typ: e.Name, Data: e.Data, Members: members, response: -1, sequence: -1, item: -1, delta: -1, padding: -1}
	typ, failed := -1, false
	for i, m := range members {
		switch string(m.DecodedKey(e.Data)) {
		case "type":
			typ = i
		case "sequence_number":
			event.sequence = i
		case "response":
			event.response = i
		case "item":
			event.item = i
		case "delta":
			if m.Kind != 'n' {
				event.delta = i
				event.Delta = e.valueAt(VarText, m.ValueStart, m.ValueEnd)
			}
		case "obfuscation":
			event.padding = i
		case "error":
			failed = failed || truthy(m.Value(e.Data))
		}
	}
	if typ >= 0 && members[typ].Kind == '"' {
		value := members[typ].Value(e.Data)
		event.typ = value[1 : len(value)-1]
	}
	switch string(event.typ) {
	case "keepalive", "ping": // we send our own; no SDK takes one before response.created
		return event, false, nil
	case "error":
		failed = true
	}
	if failed || string(e.Name) == "error" {
		return event, false, s.sum.fault(&s.call, e.Data)
	}
	if event.response >= 0 && members[event.response].Kind != '{' {
		event.response = -1
	}
	return event, true, nil
}

// take repairs an event. It returns false for one that no client gets.
func (s *ResponsesStream) take(e *Event) (event ResponsesEvent, found bool, bad *apierror.Error) {
	s.before = 0
	event, found, bad = s.readEvent(e)
	if !found {
		return event, false, bad
	}
	members := event.Members
	if event.sequence >= 0 {
		m := members[event.sequence]
		if n, ok := jsonscan.Int(e.valueAt(VarNumber, m.ValueStart, m.ValueEnd)); ok {
			s.sequence = n
		}
	}
	isDelta := bytes.HasSuffix(event.typ, []byte(".delta"))
	s.sum.Text = s.sum.Text || isDelta
	if event.item >= 0 {
		switch item := members[event.item].Value(e.Data); string(event.typ) {
		case "response.output_item.added":
			s.call.reportItem(item)
		case "response.output_item.done": // what is encrypted before is not complete
			s.reportSealed(item)
		}
	}
	switch {
	case event.response >= 0:
		m := members[event.response]
		event.Response = m.Value(e.Data)
		var p *jsonscan.Patch
		p, event.ResponseMembers = e.work.open(AtChoice, event.Response)
		if s.edit(p, event.Response, event.ResponseMembers) {
			event.ID = s.id
		}
		if s.call.ResponseDefaults != nil {
			s.missing(p, event.Response, event.ResponseMembers)
		}
		switch string(event.typ) {
		case "response.completed", "response.incomplete", "response.failed":
			s.done = true
			s.addMetadata(p, event.Response, event.ResponseMembers)
		}
		e.work.edits.add(p, m.ValueStart)
	case isDelta:
		s.remember(e, &event)
	}
	return event, true, nil
}

// remember lets the next events repeat this one.
func (s *ResponsesStream) remember(e *Event, event *ResponsesEvent) {
	var vars [Variables]Variable
	variable := func(kind, i int, is byte) {
		if i >= 0 && event.Members[i].Kind == is {
			vars[kind] = Variable{Start: event.Members[i].ValueStart, End: event.Members[i].ValueEnd}
		}
	}
	variable(VarText, event.delta, '"')
	variable(VarPadding, event.padding, '"')
	if i := event.sequence; i >= 0 && isTime(event.Members[i].Value(e.Data)) {
		variable(VarNumber, i, '0')
	}
	if e.Learn(vars) {
		s.before = e.shape
	}
}
