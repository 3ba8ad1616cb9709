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
func appendMessages(dst []byte, body translate.Reader, tools *tools, opt Options) []byte {
	m := messageWriter{opt: opt, tools: tools, out: append(dst, `,"messages":[`...)}
	if instructions := body.Text("instructions"); instructions != nil {
		m.text("developer", instructions)
	}
	switch input := translate.Required(body, "input"); {
	case input == nil:
	case input[0] == '"':
		m.text("user", input)
	default:
		body.Each("input", translate.MaxMessages, func(_ int, o translate.Reader) { m.item(o) })
	}
	m.endMedia()
	m.endTurn()
	return append(m.out, ']')
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

func (m *messageWriter) item(o translate.Reader) {
	typ := o.DecodedText("type")
	if typ == "" {
		typ = "message"
	}
	known, ok := itemFields[typ]
	if !ok {
		if !m.opt.DropUnknownTools || !hostedItems[typ] {
			translate.RefuseType(o, typ)
		}
		return
	}
	o.Only(known...)
	switch typ {
	case "function_call_output", "custom_tool_call_output":
		m.output(o)
		return
	case "tool_search_output":
		m.searchOutput(o)
		return
	case "additional_tools":
		m.tools.addLoaded(o)
		return
	}
	m.endMedia() // behind the results of all calls that were made together
	switch typ {
	case "function_call":
		m.turn.addCall(o, functionCall, &m.tools.names)
	case "custom_tool_call":
		m.turn.addCall(o, customCall, &m.tools.names)
	case "tool_search_call":
		m.turn.addSearch(o, &m.tools.names)
	case "reasoning":
		m.reasoning(o)
	default:
		m.message(o)
	}
}

func (m *messageWriter) message(o translate.Reader) {
	switch role := o.DecodedText("role"); role {
	case "assistant":
		if m.turn.hasOnlyText() {
			m.endTurn()
		}
		m.turn.addText(o)
	case "user", "system", "developer":
		m.endTurn()
		m.begin(role)
		m.content(o, "content", role)
		m.out = append(m.out, '}')
	case "":
		o.Fail(translate.Missing(o.Param("role")))
	default:
		o.Fail(translate.Invalid(o.Param("role"), "user, assistant, system or developer"))
	}
}

// reasoning keeps the reasoning of the model for a provider that wants it back: the reasoning
// itself, or else the summary of it.
func (m *messageWriter) reasoning(o translate.Reader) {
	if m.opt.SignedReasoning {
		elements := signedReasoning(o)
		if len(elements) > 0 && m.turn.hasOnlyText() {
			m.endTurn()
		}
		m.turn.addSigned(elements)
		return
	}
	if !m.opt.ReasoningContent {
		return
	}
	some := false
	for _, key := range []string{"content", "summary"} {
		if some {
			return
		}
		o.Each(key, translate.MaxParts, func(_ int, part translate.Reader) {
			if !some && m.turn.hasOnlyText() {
				m.endTurn()
			}
			some = true
			text, _ := translate.Unquoted(part.RequiredText("text"))
			m.turn.reasoning = append(m.turn.reasoning, text...)
		})
	}
}

// partText returns the quoted text of a part that must be text.
func partText(part translate.Reader) []byte {
	typ := translate.TypeOf(part)
	if typ != "input_text" && typ != "output_text" {
		translate.RefuseType(part, typ)
	}
	part.Only(partFields[typ]...)
	return part.RequiredText("text")
}
