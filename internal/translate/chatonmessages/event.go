package chatonmessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// event has the members of an event that matter, nil for those that are absent.
type event struct {
	name                         []byte // its type, without quotes
	message, block, delta, usage []byte
	deltaStart                   int   // where delta begins in the event
	index                        int64 // -1 if absent
}

// parse reads an event. Its type is in its data; some servers only name it.
func (o *event) parse(e *openai.Event, members []jsonscan.Member) {
	*o = event{name: e.Name, index: -1}
	for _, m := range members {
		if m.Kind == 'n' {
			continue
		}
		value := m.Value(e.Data)
		switch string(m.DecodedKey(e.Data)) {
		case "type":
			if name, ok := translate.Unquoted(value); ok && string(o.name) != "error" {
				o.name = name
			}
		case "message":
			o.message = value
		case "content_block":
			o.block = value
		case "delta":
			o.delta, o.deltaStart = value, m.ValueStart
		case "usage":
			o.usage = value
		case "error":
			if m.Kind == '{' {
				o.name = []byte("error")
			}
		case "index":
			if n, ok := jsonscan.Int(value); ok && n >= 0 {
				o.index = n
			}
		}
	}
}

// readDelta reads the delta of a block, which begins at start in the event, and finds the text by
// which the next events may differ.
func readDelta(e *openai.Event, start int, object []byte) (o blockMembers, text openai.Variable) {
	var members [8]jsonscan.Member
	texts := 0
	for _, m := range jsonscan.Members(object, members[:0]) {
		var to *[]byte
		switch string(m.DecodedKey(object)) {
		case "type":
			o.typ = m.Value(object)
		case "signature":
			o.signature = m.Value(object)
		case "citation":
			o.citation = m.Value(object)
		case "text":
			to = &o.text
		case "thinking":
			to = &o.thinking
		case "partial_json":
			to = &o.partial
		}
		if to != nil && m.Kind == '"' {
			text = openai.Variable{Start: start + m.ValueStart, End: start + m.ValueEnd}
			*to = openai.TextAt(e, text.Start, text.End)
			texts++
		}
	}
	if texts > 1 {
		text = openai.Variable{}
	}
	return o, text
}
