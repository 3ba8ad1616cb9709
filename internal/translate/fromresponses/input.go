package fromresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// clientNotes is the field in which Codex keeps its own notes about an item.
const clientNotes = "internal_chat_message_metadata_passthrough"

// itemFields are the fields of input items, by type, that a chat request can carry or that the
// provider does not need: it stores no earlier answers, so their ids and states mean nothing to it,
// nor do a client's notes.
var itemFields = map[string][]string{
	"message":              {"type", "role", "content", "id", "status", "phase", clientNotes},
	"function_call":        {"type", "call_id", "name", "arguments", "id", "status", clientNotes},
	"function_call_output": {"type", "call_id", "output", "id", "status", clientNotes},
	"reasoning":            {"type", "summary", "content", "encrypted_content", "id", "status", clientNotes},
}

// appendMessages translates instructions and input to messages.
func appendMessages(dst []byte, body translate.Object, opt Options) ([]byte, error) {
	m := messageWriter{opt: opt, out: append(dst, `,"messages":[`...)}
	instructions, err := body.Text("instructions")
	if err != nil {
		return dst, err
	}
	if instructions != nil {
		m.text("developer", instructions)
	}
	switch input := body.Get("input"); {
	case input == nil:
		return dst, translate.Missing("input")
	case input[0] == '"':
		m.text("user", input)
	default:
		err := body.Each("input", translate.MaxMessages, func(_ int, o translate.Object) error { return m.item(o) })
		if err != nil {
			return dst, err
		}
	}
	m.endTurn()
	return append(m.out, ']'), nil
}

// messageWriter writes the messages of a chat request.
type messageWriter struct {
	opt  Options
	out  []byte
	turn assistantTurn
}

// begin starts a message.
func (m *messageWriter) begin(role string) {
	if role == "developer" && !m.opt.DeveloperRole {
		role = "system"
	}
	m.out = append(translate.AppendComma(m.out), '{')
	m.out = translate.AppendTextMember(m.out, "role", []byte(role))
}

func (m *messageWriter) put(key string, value []byte) {
	m.out = translate.AppendMember(m.out, key, value)
}

// text writes a whole message with quoted text.
func (m *messageWriter) text(role string, quoted []byte) {
	m.begin(role)
	m.put("content", quoted)
	m.out = append(m.out, '}')
}

func (m *messageWriter) item(o translate.Object) error {
	typ, err := o.DecodedText("type")
	if err != nil {
		return err
	}
	if typ == "" {
		typ = "message"
	}
	known, ok := itemFields[typ]
	if !ok {
		return translate.UnsupportedType(o, typ)
	}
	if err := o.Only(known...); err != nil {
		return err
	}
	switch typ {
	case "function_call":
		return m.turn.addCall(o)
	case "function_call_output":
		return m.functionOutput(o)
	case "reasoning":
		return m.reasoning(o)
	}
	return m.message(o)
}

func (m *messageWriter) message(o translate.Object) error {
	role, err := o.DecodedText("role")
	if err != nil {
		return err
	}
	switch role {
	case "assistant":
		if m.turn.hasOnlyText() {
			m.endTurn()
		}
		return m.turn.addText(o)
	case "user", "system", "developer":
		m.endTurn()
		m.begin(role)
		err := m.content(o, role)
		m.out = append(m.out, '}')
		return err
	case "":
		return translate.Missing(o.Param("role"))
	}
	return translate.Invalid(o.Param("role"), "user, assistant, system or developer")
}

// functionOutput writes the result of a call. Texts are joined by line ends: few providers accept
// parts in a tool message.
func (m *messageWriter) functionOutput(o translate.Object) error {
	m.endTurn()
	id, err := o.RequiredText("call_id")
	if err != nil {
		return err
	}
	m.begin("tool")
	m.put("tool_call_id", id)
	output := o.Get("output")
	switch {
	case output == nil:
		return translate.Missing(o.Param("output"))
	case output[0] == '"':
		m.put("content", output)
	default:
		m.out = append(m.out, `,"content":"`...)
		err := o.Each("output", translate.MaxParts, func(i int, part translate.Object) error {
			quoted, err := partText(part)
			if err != nil {
				return err
			}
			if i > 0 {
				m.out = append(m.out, `\n`...)
			}
			text, _ := translate.Unquoted(quoted)
			m.out = append(m.out, text...)
			return nil
		})
		if err != nil {
			return err
		}
		m.out = append(m.out, '"')
	}
	m.out = append(m.out, '}')
	return nil
}

// reasoning keeps the reasoning of the model for a provider that wants it back: the reasoning
// itself, or else the summary of it.
func (m *messageWriter) reasoning(o translate.Object) error {
	if !m.opt.ReasoningContent {
		return nil
	}
	for _, key := range []string{"content", "summary"} {
		some := false
		err := o.Each(key, translate.MaxParts, func(_ int, part translate.Object) error {
			if !some && m.turn.hasOnlyText() {
				m.endTurn()
			}
			some = true
			quoted, err := part.RequiredText("text")
			text, _ := translate.Unquoted(quoted)
			m.turn.reasoning = append(m.turn.reasoning, text...)
			return err
		})
		if some || err != nil {
			return err
		}
	}
	return nil
}

// partText returns the quoted text of a part that must be text.
func partText(part translate.Object) ([]byte, error) {
	typ, err := part.Type()
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
