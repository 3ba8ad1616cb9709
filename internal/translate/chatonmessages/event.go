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
	text     []byte
	variable openai.Variable // by which the next events may differ
}

// texts are the members with the text of a delta, by its type.
var texts = map[string]string{`"text_delta"`: "text", `"thinking_delta"`: "thinking", `"input_json_delta"`: "partial_json"}

// readDelta reads the delta of a block, which begins at from in the event, and finds the text by
// which the next events may differ.
func readDelta(e *openai.Event, from int, object []byte) piece {
	p := piece{Object: openai.OpenInside(e, object)}
	if start, end := p.Span(texts[string(p.Get("type"))]); end > 0 && object[start] == '"' {
		p.variable = openai.Variable{Start: from + start, End: from + end}
		p.text = openai.TextAt(e, p.variable.Start, p.variable.End)
	}
	return p
}
