package tochat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// turn is the assistant message in the making. A chat message holds what are
// several items of a Response: reasoning, text, and all calls that were made
// together, whose results must follow directly.
type turn struct {
	parts     [][]byte // quoted texts
	calls     []byte   // the elements of tool_calls
	reasoning []byte   // as JSON without quotes
}

// assistant takes a message of the model. A refusal is text here: it tells the
// model the same, and few providers know the field.
func (m *messages) assistant(o translate.Object) error {
	if len(m.turn.parts) > 0 && len(m.turn.calls) == 0 {
		m.flush()
	}
	value := o.Get("content")
	path := o.Param("content")
	switch {
	case value == nil:
		return translate.Missing(path)
	case value[0] == '"':
		m.turn.parts = append(m.turn.parts, value)
		return nil
	}
	spans, err := translate.Elements(value, path, translate.MaxParts)
	if err != nil {
		return err
	}
	for i, span := range spans {
		text, err := assistantPart(span.Value(value), translate.At(path, i))
		if err != nil {
			return err
		}
		m.turn.parts = append(m.turn.parts, text)
	}
	if len(spans) == 0 {
		m.turn.parts = append(m.turn.parts, []byte(`""`))
	}
	return nil
}

// assistantPart returns the quoted text of a part of a model's message.
func assistantPart(value []byte, path string) ([]byte, error) {
	part, err := translate.Open(value, path)
	if err != nil {
		return nil, err
	}
	if typ, err := part.DecodedText("type"); err != nil || typ != "refusal" {
		return textPart(part)
	}
	if err := part.Only(partFields["refusal"]...); err != nil {
		return nil, err
	}
	return part.RequiredText("refusal")
}

// functionCall takes a call of the model.
func (m *messages) functionCall(o translate.Object) error {
	var values [3][]byte
	for i, key := range []string{"call_id", "name", "arguments"} {
		var err error
		if values[i], err = o.RequiredText(key); err != nil {
			return err
		}
	}
	t := &m.turn
	if len(t.calls) > 0 {
		t.calls = append(t.calls, ',')
	}
	t.calls = append(t.calls, `{"id":`...)
	t.calls = append(t.calls, values[0]...)
	t.calls = append(t.calls, `,"type":"function","function":{"name":`...)
	t.calls = append(t.calls, values[1]...)
	t.calls = append(t.calls, `,"arguments":`...)
	t.calls = append(t.calls, values[2]...)
	t.calls = append(t.calls, "}}"...)
	return nil
}

// flush writes the assistant message, if there is one.
func (m *messages) flush() {
	t := m.turn
	m.turn = turn{parts: t.parts[:0], calls: t.calls[:0], reasoning: t.reasoning[:0]}
	if len(t.parts) == 0 && len(t.calls) == 0 {
		return // reasoning that nothing followed
	}
	m.begin("assistant")
	m.out = append(m.out, `,"content":`...)
	switch len(t.parts) {
	case 0:
		m.out = append(m.out, "null"...)
	case 1:
		m.out = append(m.out, t.parts[0]...)
	default:
		for i, text := range t.parts {
			m.out = append(m.out, "[,"[min(i, 1)])
			m.out = appendTextPart(m.out, text)
		}
		m.out = append(m.out, ']')
	}
	if len(t.reasoning) > 0 {
		m.out = append(m.out, `,"reasoning_content":"`...)
		m.out = append(m.out, t.reasoning...)
		m.out = append(m.out, '"')
	}
	if len(t.calls) > 0 {
		m.out = append(m.out, `,"tool_calls":[`...)
		m.out = append(m.out, t.calls...)
		m.out = append(m.out, ']')
	}
	m.out = append(m.out, '}')
}
