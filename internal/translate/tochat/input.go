package tochat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// clientNotes is the field in which Codex keeps its own notes about an item.
const clientNotes = "internal_chat_message_metadata_passthrough"

// itemFields are the fields of the input items that a chat request can carry.
// Ids and states of earlier answers say nothing to a provider that stores
// none, nor do a client's notes.
var itemFields = map[string][]string{
	"message":              {"type", "role", "content", "id", "status", "phase", clientNotes},
	"function_call":        {"type", "call_id", "name", "arguments", "id", "status", clientNotes},
	"function_call_output": {"type", "call_id", "output", "id", "status", clientNotes},
	"reasoning":            {"type", "summary", "content", "encrypted_content", "id", "status", clientNotes},
}

// messages maps instructions and input.
func (t *translation) messages() error {
	m := messages{opt: t.opt, out: append(t.out, `,"messages":[`...)}
	instructions, err := t.body.Text("instructions")
	if err != nil {
		return err
	}
	if instructions != nil {
		m.message(m.opt.role("developer"), instructions)
	}
	input := t.body.Get("input")
	if input == nil {
		return translate.Missing("input")
	}
	if input[0] == '"' {
		m.message("user", input)
	} else {
		spans, err := translate.Elements(input, "input", translate.MaxMessages)
		if err != nil {
			return err
		}
		for i, span := range spans {
			if err := m.item(span.Value(input), translate.At("input", i)); err != nil {
				return err
			}
		}
	}
	m.flush()
	t.out = append(m.out, ']')
	return nil
}

// role is the provider's word for a role.
func (opt Options) role(role string) string {
	if role == "developer" && !opt.DeveloperRole {
		return "system"
	}
	return role
}

// messages builds the messages of a chat request.
type messages struct {
	opt  Options
	out  []byte
	some bool // there is one already
	turn turn
}

// begin starts a message.
func (m *messages) begin(role string) {
	if m.some {
		m.out = append(m.out, ',')
	}
	m.some = true
	m.out = append(m.out, `{"role":"`...)
	m.out = append(m.out, role...)
	m.out = append(m.out, '"')
}

// message appends a whole message with quoted text.
func (m *messages) message(role string, text []byte) {
	m.begin(role)
	m.out = append(m.out, `,"content":`...)
	m.out = append(m.out, text...)
	m.out = append(m.out, '}')
}

func (m *messages) item(value []byte, path string) error {
	o, err := translate.Open(value, path)
	if err != nil {
		return err
	}
	typ, err := o.DecodedText("type")
	if err != nil {
		return err
	}
	if typ == "" {
		typ = "message"
	}
	known, ok := itemFields[typ]
	if !ok {
		return translate.UnsupportedValue(o.Param("type"), typ)
	}
	if err := o.Only(known...); err != nil {
		return err
	}
	switch typ {
	case "function_call":
		return m.functionCall(o)
	case "function_call_output":
		return m.functionOutput(o)
	case "reasoning":
		return m.reasoning(o)
	}
	role, err := o.DecodedText("role")
	if err != nil {
		return err
	}
	switch role {
	case "assistant":
		return m.assistant(o)
	case "user", "system", "developer":
		m.flush()
		m.begin(m.opt.role(role))
		m.out = append(m.out, `,"content":`...)
		if err := m.content(o, role); err != nil {
			return err
		}
		m.out = append(m.out, '}')
		return nil
	case "":
		return translate.Missing(o.Param("role"))
	}
	return translate.Invalid(o.Param("role"), "user, assistant, system or developer")
}

// functionOutput maps the result of a call. Texts are joined: few providers
// take parts in a tool message.
func (m *messages) functionOutput(o translate.Object) error {
	m.flush()
	id, err := o.RequiredText("call_id")
	if err != nil {
		return err
	}
	m.begin("tool")
	m.out = append(m.out, `,"tool_call_id":`...)
	m.out = append(m.out, id...)
	m.out = append(m.out, `,"content":`...)
	output := o.Get("output")
	switch {
	case output == nil:
		return translate.Missing(o.Param("output"))
	case output[0] == '"':
		m.out = append(m.out, output...)
	default:
		path := o.Param("output")
		spans, err := translate.Elements(output, path, translate.MaxParts)
		if err != nil {
			return err
		}
		m.out = append(m.out, '"')
		for i, span := range spans {
			part, err := translate.Open(span.Value(output), translate.At(path, i))
			if err != nil {
				return err
			}
			text, err := textPart(part)
			if err != nil {
				return err
			}
			if i > 0 {
				m.out = append(m.out, `\n`...)
			}
			m.out = append(m.out, text[1:len(text)-1]...)
		}
		m.out = append(m.out, '"')
	}
	m.out = append(m.out, '}')
	return nil
}

// reasoning takes what the model thought, its own words before the summary of
// them, for a provider that wants it back.
func (m *messages) reasoning(o translate.Object) error {
	if !m.opt.ReasoningContent {
		return nil
	}
	for _, key := range []string{"content", "summary"} {
		value := o.Get(key)
		if value == nil {
			continue
		}
		spans, err := translate.Elements(value, o.Param(key), translate.MaxParts)
		if err != nil {
			return err
		}
		if len(spans) == 0 {
			continue
		}
		if len(m.turn.parts) > 0 && len(m.turn.calls) == 0 {
			m.flush()
		}
		for i, span := range spans {
			part, err := translate.Open(span.Value(value), translate.At(o.Param(key), i))
			if err != nil {
				return err
			}
			text, err := part.RequiredText("text")
			if err != nil {
				return err
			}
			m.turn.reasoning = append(m.turn.reasoning, text[1:len(text)-1]...)
		}
		return nil
	}
	return nil
}

// textPart returns the quoted text of a part that has to be text.
func textPart(part translate.Object) ([]byte, error) {
	typ, err := part.DecodedText("type")
	if err != nil {
		return nil, err
	}
	if typ != "input_text" && typ != "output_text" {
		return nil, translate.UnsupportedType(part, typ)
	}
	if err := part.Only(partFields[typ]...); err != nil {
		return nil, err
	}
	return part.RequiredText("text")
}
