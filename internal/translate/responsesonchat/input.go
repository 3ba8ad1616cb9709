package responsesonchat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// clientNotes is the field in which Codex keeps its own notes about an item.
const clientNotes = "internal_chat_message_metadata_passthrough"

// itemFields are the fields of input items, by type, that a chat request can carry or that the
// provider does not need: it stores no earlier answers, so their ids and states mean nothing to it,
// nor do a client's notes.
var itemFields = map[string][]string{
	"message":                 {"type", "role", "content", "id", "status", "phase", clientNotes},
	"function_call":           {"type", "call_id", "name", "namespace", "arguments", "id", "status", clientNotes},
	"function_call_output":    {"type", "call_id", "output", "id", "status", clientNotes},
	"custom_tool_call":        {"type", "call_id", "name", "namespace", "input", "id", "status", clientNotes},
	"custom_tool_call_output": {"type", "call_id", "name", "output", "id", "status", clientNotes},
	"tool_search_call":        {"type", "call_id", "execution", "arguments", "id", "status", clientNotes},
	"tool_search_output":      {"type", "call_id", "execution", "tools", "id", "status", clientNotes},
	"additional_tools":        {"type", "role", "tools", "id", clientNotes},
	"reasoning":               {"type", "summary", "content", "encrypted_content", "id", "status", clientNotes},
}

// hostedItems are traces of tools that another provider ran. The model's texts have what it found.
var hostedItems = map[string]bool{
	"web_search_call": true, "file_search_call": true, "code_interpreter_call": true,
	"image_generation_call": true, "mcp_call": true, "mcp_list_tools": true,
}

// appendMessages translates instructions and input to messages. Tools in the input are added to
// tools.
func appendMessages(dst []byte, body translate.Object, tools *tools, opt Options) ([]byte, error) {
	m := messageWriter{opt: opt, tools: tools, out: append(dst, `,"messages":[`...)}
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
	m.endMedia()
	m.endTurn()
	return append(m.out, ']'), nil
}

// messageWriter writes the messages of a chat request.
type messageWriter struct {
	opt   Options
	tools *tools
	out   []byte
	turn  assistantTurn
	media []byte // the parts of a user message with what tool messages cannot have
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
		if m.opt.DropUnknownTools && hostedItems[typ] {
			return nil
		}
		return translate.UnsupportedType(o, typ)
	}
	if err := o.Only(known...); err != nil {
		return err
	}
	switch typ {
	case "function_call_output", "custom_tool_call_output":
		return m.output(o)
	case "tool_search_output":
		return m.searchOutput(o)
	case "additional_tools":
		return m.tools.addLoaded(o)
	}
	m.endMedia() // behind the results of all calls that were made together
	switch typ {
	case "function_call":
		return m.turn.addCall(o, &m.tools.names)
	case "custom_tool_call":
		return m.turn.addCustomCall(o, &m.tools.names)
	case "tool_search_call":
		return m.turn.addSearch(o, &m.tools.names)
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
		err := m.content(o, "content", role)
		m.out = append(m.out, '}')
		return err
	case "":
		return translate.Missing(o.Param("role"))
	}
	return translate.Invalid(o.Param("role"), "user, assistant, system or developer")
}

// reasoning keeps the reasoning of the model for a provider that wants it back: the reasoning
// itself, or else the summary of it.
func (m *messageWriter) reasoning(o translate.Object) error {
	if m.opt.SignedReasoning {
		elements, err := signedReasoning(o)
		if len(elements) > 0 && m.turn.hasOnlyText() {
			m.endTurn()
		}
		m.turn.addSigned(elements)
		return err
	}
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
