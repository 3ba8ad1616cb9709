package chatonresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// messageFields are the fields of messages, by role, that a Responses request can carry or that the
// model does not need: annotations and parsed are for readers, a provider takes reasoning back only
// in its own items, and the id of a call already says which tool a result is from.
var messageFields = translate.MessageFields{
	"system":    {"role", "content", "name"},
	"developer": {"role", "content", "name"},
	"user":      {"role", "content", "name"},
	"assistant": {"role", "content", "name", "refusal", "tool_calls", "annotations", "parsed",
		"reasoning", "reasoning_content", "reasoning_details"},
	"tool": {"role", "content", "tool_call_id", "name"},
}

// appendMessages translates messages to instructions and input. It notes in leftOut what is not sent.
func appendMessages(dst []byte, body translate.Reader, leftOut *[]string) []byte {
	value := translate.Required(body, "messages")
	spans, err := translate.Elements(value, "messages", translate.MaxMessages)
	body.Fail(err)
	const input = `,"input":[`
	in := inputWriter{out: dst}
	if len(spans) == 0 {
		in.out = append(in.out, input...)
	}
	for i, span := range spans {
		o := translate.OpenInside(body, span.Value(value), translate.At("messages", i))
		role := messageFields.Role(o, leftOut)
		var instructions []byte
		if i == 0 && len(spans) > 1 {
			instructions = instructionsOf(o, role)
		}
		if instructions != nil {
			in.put("instructions", instructions)
		}
		if i == 0 {
			in.out = append(in.out, input...)
		}
		if instructions == nil {
			in.message(o, role)
		}
	}
	return append(in.out, ']')
}

// instructionsOf returns the text of a leading message that becomes instructions, nil if it stays a
// message.
func instructionsOf(o translate.Reader, role string) []byte {
	content := o.Get("content")
	if role != "system" && role != "developer" || content == nil || content[0] != '"' {
		return nil
	}
	return content
}

// inputWriter writes the input items of a Responses request.
type inputWriter struct {
	out    []byte
	custom map[string]bool // the ids of calls of custom tools
}

// begin starts an item.
func (in *inputWriter) begin(typ string) {
	in.out = append(translate.AppendComma(in.out), '{')
	in.out = translate.AppendTextMember(in.out, "type", []byte(typ))
}

func (in *inputWriter) put(key string, value []byte) {
	in.out = translate.AppendMember(in.out, key, value)
}

func (in *inputWriter) message(o translate.Reader, role string) {
	switch role {
	case "assistant":
		in.assistant(o)
	case "tool":
		in.toolResult(o)
	default:
		in.begin("message")
		in.out = translate.AppendTextMember(in.out, "role", []byte(role))
		in.content("content", o, role == "user")
	}
}

// assistant writes a message of the model: its text, and then its calls, each an item of its own.
func (in *inputWriter) assistant(o translate.Reader) {
	content, calls, refusal := o.Get("content"), o.Get("tool_calls"), o.Text("refusal")
	if string(content) == `""` && (calls != nil || refusal != nil) {
		content = nil
	}
	if content == nil && calls == nil && refusal == nil {
		o.Fail(translate.Missing(o.Param("content")))
	}
	if content != nil || refusal != nil {
		in.begin("message")
		in.out = append(in.out, `,"role":"assistant"`...)
		in.answer(o, content, refusal)
	}
	o.Each("tool_calls", translate.MaxTools, func(_ int, call translate.Reader) { in.toolCall(call) })
}

// toolCalls has, by the type of a tool call, the member of its own object that has its input, and
// the type of the item that the call becomes. The type is also the name of the member that has this
// object.
var toolCalls = map[string]struct{ argument, item string }{
	"function": {"arguments", "function_call"},
	"custom":   {"input", "custom_tool_call"},
}

func (in *inputWriter) toolCall(call translate.Reader) {
	typ := translate.TypeOf(call)
	kind, known := toolCalls[typ]
	if !known {
		translate.RefuseType(call, typ)
	}
	call.Only("id", "type", "index", typ)
	id := call.RequiredText("id")
	o := call.RequiredObject(typ, "name", kind.argument, "parsed_arguments")
	o.RequiredText("name")
	o.RequiredText(kind.argument)
	if typ == "custom" {
		if in.custom == nil {
			in.custom = make(map[string]bool)
		}
		decoded, _ := jsonscan.String(id)
		in.custom[decoded] = true
	}
	in.begin(kind.item)
	in.put("call_id", id)
	in.out = append(translate.AppendPresent(in.out, o, "name", kind.argument), '}')
}

// toolResult writes the output of a tool.
func (in *inputWriter) toolResult(o translate.Reader) {
	id := o.RequiredText("tool_call_id")
	typ := "function_call_output"
	if len(in.custom) > 0 {
		if decoded, _ := jsonscan.String(id); in.custom[decoded] {
			typ = "custom_tool_call_output"
		}
	}
	in.begin(typ)
	in.put("call_id", id)
	in.content("output", o, true)
}
