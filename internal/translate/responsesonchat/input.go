package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// clientNotes is the field in which Codex keeps its own notes about an item.
const clientNotes = "internal_chat_message_metadata_passthrough"

// itemFields are the fields of input items, by type, that a provider of another API can get or that
// it does not need: it stores no earlier answers, so their ids and states mean nothing to it, nor
// do a client's notes.
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

// input reads instructions and input into turns.
type input struct {
	to          conversation.Builder
	dropUnknown bool // hosted items are left out
	tools       *tools
	turn        conversation.Answer // what the model said: the content of several items that follow each other
}

// hasOnlyText reports whether another text or reasoning begins the next turn.
func (in *input) hasOnlyText() bool { return len(in.turn.Texts) > 0 && len(in.turn.Calls) == 0 }

// read reads all of the conversation.
func (in *input) read(body translate.Reader) {
	if instructions := body.Text("instructions"); instructions != nil {
		in.addText(conversation.System, "developer", instructions)
	}
	switch value := translate.Required(body, "input"); {
	case value == nil:
	case value[0] == '"':
		in.addText(conversation.User, "user", value)
	default:
		body.Each("input", translate.MaxMessages, func(_ int, o translate.Reader) { in.item(o) })
	}
	in.endTurn(body)
}

// addText adds a turn of one text.
func (in *input) addText(role conversation.Role, word string, quoted []byte) {
	in.to.Add(conversation.Turn{Role: role, Word: word, Parts: in.to.Append(nil, textPart(quoted))})
}

func textPart(quoted []byte) conversation.Part {
	return conversation.Part{Kind: conversation.Text, Text: quoted, Whole: true}
}

func (in *input) item(o translate.Reader) {
	typ := o.DecodedText("type")
	if typ == "" {
		typ = "message"
	}
	known, ok := itemFields[typ]
	if !ok {
		if !in.dropUnknown || !hostedItems[typ] {
			translate.RefuseType(o, typ)
		}
		return
	}
	o.Only(known...)
	switch typ {
	case "function_call_output", "custom_tool_call_output":
		in.output(o)
	case "tool_search_output":
		in.searchOutput(o)
	case "additional_tools":
		in.tools.addLoaded(o)
	case "function_call":
		in.call(o, functionCall)
	case "custom_tool_call":
		in.call(o, customCall)
	case "tool_search_call":
		in.search(o)
	case "reasoning":
		in.reasoning(o)
	default:
		in.message(o)
	}
}

func (in *input) message(o translate.Reader) {
	switch role := o.DecodedText("role"); role {
	case "assistant":
		if in.hasOnlyText() {
			in.endTurn(o)
		}
		in.answer(o)
	case "user":
		in.endTurn(o)
		in.to.Add(conversation.Turn{Role: conversation.User, Word: role, Parts: in.content(o, "content", conversation.Text|in.to.Rules().Media)})
	case "system", "developer":
		in.endTurn(o)
		in.to.Add(conversation.Turn{Role: conversation.System, Word: role, Parts: in.content(o, "content", conversation.Text)})
	case "":
		o.Fail(translate.Missing(o.Param("role")))
	default:
		o.Fail(translate.Invalid(o.Param("role"), "user, assistant, system or developer"))
	}
}

// answer reads a message of the model. A refusal becomes text: it says the same to the model, and
// few providers know the field.
func (in *input) answer(o translate.Reader) {
	parts := in.content(o, "content", conversation.Text|conversation.Refusal)
	if len(parts) == 0 {
		parts = in.to.Append(parts, textPart([]byte(`""`)))
	}
	in.turn.Texts = append(in.turn.Texts, parts...)
}

// call reads a call of a function, or of a custom tool.
func (in *input) call(o translate.Reader, k kind) {
	tool := calledTool{kind: k, namespace: o.Text("namespace")}
	call := conversation.ToolCall{ID: o.RequiredText("call_id")}
	if k == customCall {
		call.Arguments, call.Input = customArguments(o.RequiredText("input"))
	} else if call.Arguments = o.RequiredText("arguments"); in.to.Rules().Inputs {
		call.Input = translate.Input(o, "arguments")
	}
	tool.name = o.RequiredText("name")
	in.add(call, tool)
}

// search reads a search for tools, whose arguments are an object. One that another provider made is
// left out.
func (in *input) search(o translate.Reader) {
	id := o.Text("call_id")
	if id == nil || o.DecodedText("execution") == "server" {
		return
	}
	object := translate.Written(o.RequiredObject("arguments"))
	in.add(conversation.ToolCall{ID: id, Arguments: jsonscan.AppendString(nil, string(object)), Input: object},
		calledTool{kind: searchCall, name: searchName})
}

func (in *input) add(call conversation.ToolCall, tool calledTool) {
	call.Name = in.tools.names.of(tool)
	in.turn.Calls = append(in.turn.Calls, in.to.Call(call, nil))
}

// reasoning keeps the reasoning of the model for a provider that wants it back: signed by itself,
// or the reasoning, or else the summary of it.
func (in *input) reasoning(o translate.Reader) {
	rules := in.to.Rules()
	if rules.Origin != "" || rules.Signatures != "" {
		elements, _ := translate.UnwrapReasoning(o.DecodedText("encrypted_content")) // that of another provider only that can read
		if len(elements) > 0 && in.hasOnlyText() {
			in.endTurn(o)
		}
		if len(elements) > 0 {
			in.turn.Details = append(translate.AppendComma(in.turn.Details), elements...)
		}
		return
	}
	if !rules.Reasoning {
		return
	}
	some := false
	for _, key := range []string{"content", "summary"} {
		if some {
			return
		}
		o.Each(key, translate.MaxParts, func(_ int, part translate.Reader) {
			if !some && in.hasOnlyText() {
				in.endTurn(o)
			}
			some = true
			text, _ := translate.Unquoted(part.RequiredText("text"))
			in.turn.Reasoning = append(in.turn.Reasoning, text...)
		})
	}
}

// endTurn adds the turn of the model, if there is one. Reasoning that nothing follows is dropped.
func (in *input) endTurn(o translate.Reader) {
	t := in.turn
	in.turn = conversation.Answer{}
	if len(t.Texts) == 0 && len(t.Calls) == 0 {
		return
	}
	if len(t.Texts) > 1 {
		for i := range t.Texts {
			t.Texts[i].Whole = false
		}
	}
	in.to.Answer(o, t)
}
