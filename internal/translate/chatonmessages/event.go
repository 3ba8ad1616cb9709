package chatonmessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// eventType returns the type of an event. It is in its data; some servers only name it.
func eventType(name []byte, o openai.Object) []byte {
	if typ, ok := translate.Unquoted(o.Get("type")); ok && string(name) != "error" {
		name = typ
	}
	if o.Kind('{', "error", "") != nil {
		return []byte("error")
	}
	return name
}

// piece is the delta of a block. Its text is of a member by the delta's type.
type piece struct {
	openai.Object
	typ, text []byte
	variable  openai.Variable // by which the next events may differ
}

// readDelta reads the delta of a block, which stands from start to end in the event, and finds the
// text by which the next events may differ.
func readDelta(e *openai.Event, start, end int) piece {
	object := e.Data[start:end]
	p := piece{Object: openai.OpenInside(e, object)}
	key := ""
	switch p.typ = p.Get("type"); string(p.typ) {
	case `"text_delta"`:
		key = "text"
	case `"thinking_delta"`:
		key = "thinking"
	case `"input_json_delta"`:
		key = "partial_json"
	default:
		return p
	}
	if from, to := p.Span(key); to > 0 && object[from] == '"' {
		p.variable = openai.Variable{Start: start + from, End: start + to}
		p.text = openai.TextAt(e, p.variable.Start, p.variable.End)
	}
	return p
}
