package conversation

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// messageFields are the fields of messages by their role. Of these, annotations and parsed are for
// readers, reasoning without a signature is taken back by no provider, the id of a call says which
// tool a result is from, and a name of an author has no counterpart: it is not put before the text,
// because a model would write it, too.
var messageFields = map[string]struct {
	role   Role
	fields []string
}{
	"system":    {System, []string{"role", "content", "name", "cache_control"}},
	"developer": {System, []string{"role", "content", "name", "cache_control"}},
	"user":      {User, []string{"role", "content", "name", "cache_control"}},
	"assistant": {Assistant, []string{"role", "content", "name", "refusal", "tool_calls", "annotations", "parsed", "cache_control",
		"reasoning", "reasoning_content", "reasoning_details", "images"}},
	"tool": {Results, []string{"role", "content", "tool_call_id", "name", "is_error", "cache_control"}},
}

// messageName is how the name of a message's author is named among the fields that are left out.
const messageName = "messages.name"

// chat reads the messages of a chat request.
type chat struct{ Builder }

// message reads a message.
func (c chat) message(o translate.Reader) {
	word := o.DecodedText("role")
	known, ok := messageFields[word]
	switch {
	case word == "":
		o.Fail(translate.Missing(o.Param("role")))
	case !ok:
		o.Fail(translate.UnsupportedValue(o.Param("role"), word))
	}
	o.Only(known.fields...)
	if known.role != Results && o.Get("name") != nil {
		c.LeaveOut(messageName)
	}
	t := Turn{Role: known.role, Word: word}
	switch known.role {
	case Assistant:
		t.Parts = c.assistant(o)
	case Results:
		t.Parts = c.result(o)
	case User:
		t.Parts = c.content(o, Text|c.Rules().Media, c.Rules().CacheOf(o))
	default:
		t.Parts = c.content(o, Text, c.Rules().CacheOf(o))
	}
	c.Add(t)
}

// assistant reads what the model said: its thoughts, its text, its images, and then its calls.
func (c chat) assistant(o translate.Reader) (parts []Part) {
	images := c.Rules().Assistant.Has(Image)
	content, refusal := o.Get("content"), o.Text("refusal")
	switch {
	case !images && o.Get("images") != nil:
		o.Fail(translate.Unsupported(o.Param("images")))
	case content == nil && refusal == nil && o.Get("tool_calls") == nil && o.Get("reasoning_details") == nil && o.Get("images") == nil:
		o.Fail(translate.Missing(o.Param("content")))
	}
	parts = c.thoughts(nil, o)
	if content != nil {
		said := c.content(o, Text|Refusal|c.Rules().Assistant, c.Rules().CacheOf(o))
		if parts == nil {
			parts = said
		} else {
			parts = append(parts, said...)
		}
	}
	if refusal != nil {
		parts = c.Append(parts, Part{Kind: Refusal, Text: refusal})
	}
	if images {
		o.Each("images", translate.MaxParts, func(_ int, image translate.Reader) { parts = c.Append(parts, c.part(image, Image)) })
	}
	signatures := c.signatures(o)
	o.Each("tool_calls", translate.MaxTools, func(_ int, call translate.Reader) { parts = append(parts, c.call(call, signatures)) })
	return parts
}

// call reads an element of tool_calls. A signature may stand beside it in the form of Google's own
// layer for OpenAI's SDKs (extra_content), and a hint for caches.
func (c chat) call(o translate.Reader, signatures map[string][]byte) Part {
	call := ToolCall{ID: o.RequiredText("id")}
	o.Only("id", "type", "index", "function", "custom", "extra_content", "cache_control")
	typ := o.DecodedText("type")
	switch {
	case typ == "custom" && c.Rules().Custom:
		call.Custom = true
		f := o.RequiredObject("custom", "name", "input")
		call.Name, call.Arguments = f.RequiredText("name"), f.RequiredText("input")
	case typ != "" && typ != "function":
		translate.RefuseType(o, typ)
	default:
		f := o.RequiredObject("function", "name", "arguments", "parsed_arguments")
		call.Name, call.Arguments = f.RequiredText("name"), f.RequiredText("arguments")
		if c.Rules().Inputs {
			call.Input = translate.Input(f, "arguments")
		}
	}
	if c.Rules().Signatures != "" {
		if call.Signature = signatures[decoded(call.ID)]; call.Signature == nil {
			extra, _ := o.Object("extra_content")
			google, _ := extra.Object("google")
			call.Signature = translate.NonEmptyText(google, "thought_signature")
		}
	}
	return c.Builder.Call(call, c.Rules().CacheOf(o))
}

// result reads a message of a tool.
func (c chat) result(o translate.Reader) []Part {
	id := o.RequiredText("tool_call_id")
	r := &ToolResult{Call: c.CallOf(id), Failed: o.Bool("is_error")}
	if r.Parts = c.content(o, Text|c.Rules().Media, nil); r.Call == nil {
		o.Fail(translate.NoSuchCall(decoded(id), o.Param("tool_call_id")))
		return nil
	}
	return []Part{{Kind: Result, Cache: c.Rules().CacheOf(o), Result: r}}
}
