package toresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// messageFields are the fields of messages that a Responses request can carry,
// or that are of no use to the model: what an answer showed its readers
// (annotations, parsed), and reasoning, which a provider takes back only in its
// own items. The name of a tool says again what the call's id says.
var messageFields = map[string][]string{
	"system":    {"role", "content"},
	"developer": {"role", "content"},
	"user":      {"role", "content"},
	"assistant": {"role", "content", "refusal", "tool_calls", "annotations", "parsed",
		"reasoning", "reasoning_content", "reasoning_details"},
	"tool": {"role", "content", "tool_call_id", "name"},
}

// messages maps messages to instructions and input.
func (t *translation) messages() error {
	value := t.body.Get("messages")
	if value == nil {
		return translate.Missing("messages")
	}
	spans, err := translate.Elements(value, "messages", translate.MaxMessages)
	if err != nil {
		return err
	}
	in := input{out: t.out}
	for i, span := range spans {
		o, err := translate.Open(span.Value(value), translate.At("messages", i))
		if err != nil {
			return err
		}
		if err := in.message(o, i == 0 && len(spans) > 1); err != nil {
			return err
		}
	}
	if !in.some {
		in.out = append(in.out, `,"input":[`...)
	}
	t.out = append(in.out, ']')
	return nil
}

// input builds the input items of a Responses request.
type input struct {
	out    []byte
	some   bool            // there is an item already
	custom map[string]bool // the ids of calls of custom tools
}

// item begins an item.
func (in *input) item(typ string) {
	if in.some {
		in.out = append(in.out, ',')
	} else {
		in.out = append(in.out, `,"input":[`...)
	}
	in.some = true
	in.out = append(in.out, `{"type":"`...)
	in.out = append(in.out, typ...)
	in.out = append(in.out, '"')
}

func (in *input) put(key string, value []byte) {
	in.out = append(in.out, ',')
	in.out = translate.AppendMember(in.out, key, value)
}

// message takes a message. One that leads the others and tells the model what
// it is becomes instructions.
func (in *input) message(o translate.Object, leads bool) error {
	role, err := o.DecodedText("role")
	if err != nil {
		return err
	}
	known, ok := messageFields[role]
	switch {
	case role == "":
		return translate.Missing(o.Param("role"))
	case !ok:
		return translate.UnsupportedValue(o.Param("role"), role)
	}
	if err := o.Only(known...); err != nil {
		return err
	}
	switch role {
	case "assistant":
		return in.assistant(o)
	case "tool":
		return in.toolResult(o)
	}
	content := o.Get("content")
	if content == nil {
		return translate.Missing(o.Param("content"))
	}
	if leads && role != "user" && content[0] == '"' {
		in.put("instructions", content)
		return nil
	}
	in.item("message")
	in.put("role", []byte(`"`+role+`"`))
	in.out = append(in.out, `,"content":`...)
	if err := in.content(content, o.Param("content"), role == "user"); err != nil {
		return err
	}
	in.out = append(in.out, '}')
	return nil
}

// assistant takes a message of the model: its text, and then its calls, each
// an item of its own.
func (in *input) assistant(o translate.Object) error {
	content, calls := o.Get("content"), o.Get("tool_calls")
	refusal, err := o.Text("refusal")
	if err != nil {
		return err
	}
	if string(content) == `""` && (calls != nil || refusal != nil) {
		content = nil
	}
	if content == nil && calls == nil && refusal == nil {
		return translate.Missing(o.Param("content"))
	}
	if content != nil || refusal != nil {
		in.item("message")
		in.out = append(in.out, `,"role":"assistant","content":`...)
		if err := in.said(content, refusal, o.Param("content")); err != nil {
			return err
		}
		in.out = append(in.out, '}')
	}
	if calls == nil {
		return nil
	}
	path := o.Param("tool_calls")
	spans, err := translate.Elements(calls, path, translate.MaxTools)
	if err != nil {
		return err
	}
	for i, span := range spans {
		if err := in.toolCall(span.Value(calls), translate.At(path, i)); err != nil {
			return err
		}
	}
	return nil
}

// callFields are the fields of a tool call's own object, by the call's type,
// which is also the name of that object's member.
var callFields = map[string]struct{ argument, item string }{
	"function": {"arguments", "function_call"},
	"custom":   {"input", "custom_tool_call"},
}

func (in *input) toolCall(value []byte, path string) error {
	call, err := translate.Open(value, path)
	if err != nil {
		return err
	}
	typ, err := call.DecodedText("type")
	if err != nil {
		return err
	}
	kind, known := callFields[typ]
	if !known {
		return translate.UnsupportedType(call, typ)
	}
	if err := call.Only("id", "type", "index", typ); err != nil {
		return err
	}
	id, err := call.RequiredText("id")
	if err != nil {
		return err
	}
	content := call.Get(typ)
	if content == nil {
		return translate.Missing(call.Param(typ))
	}
	o, err := translate.Open(content, call.Param(typ))
	if err != nil {
		return err
	}
	if err := o.Only("name", kind.argument, "parsed_arguments"); err != nil {
		return err
	}
	name, err := o.RequiredText("name")
	if err != nil {
		return err
	}
	argument, err := o.RequiredText(kind.argument)
	if err != nil {
		return err
	}
	if typ == "custom" {
		if in.custom == nil {
			in.custom = make(map[string]bool)
		}
		decoded, _ := jsonscan.String(id)
		in.custom[decoded] = true
	}
	in.item(kind.item)
	in.put("call_id", id)
	in.put("name", name)
	in.put(kind.argument, argument)
	in.out = append(in.out, '}')
	return nil
}

// toolResult takes what a tool gave.
func (in *input) toolResult(o translate.Object) error {
	id, err := o.RequiredText("tool_call_id")
	if err != nil {
		return err
	}
	content := o.Get("content")
	if content == nil {
		return translate.Missing(o.Param("content"))
	}
	typ := "function_call_output"
	if len(in.custom) > 0 {
		if decoded, _ := jsonscan.String(id); in.custom[decoded] {
			typ = "custom_tool_call_output"
		}
	}
	in.item(typ)
	in.put("call_id", id)
	in.out = append(in.out, `,"output":`...)
	if err := in.content(content, o.Param("content"), true); err != nil {
		return err
	}
	in.out = append(in.out, '}')
	return nil
}
