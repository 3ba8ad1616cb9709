package answers

import (
	"encoding/json"
	"strings"
)

// stopReasons are the finish reasons of chat in the Messages API. Others, such as
// pause_turn, which chat does not have, stay as they are.
var stopReasons = map[string]string{
	"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal",
}

// messageWriter writes a reply as the Messages API has it.
type messageWriter struct{ *Reply }

// whole is the answer without a stream.
func (w messageWriter) whole() Object {
	content := []Object{}
	for _, b := range w.blocks() {
		content = append(content, b.whole)
	}
	o := w.begin(content)
	for _, m := range w.end() {
		o = o.With(m.name, m.value)
	}
	return o.With("usage", w.Usage.messages())
}

// begin is the message object, which has not ended yet.
func (w messageWriter) begin(content []Object) Object {
	return Object{
		{"id", "msg_" + w.ID}, {"type", "message"}, {"role", "assistant"}, {"model", w.Model}, {"content", content},
		{"stop_reason", nil}, {"stop_sequence", nil},
	}
}

// end is how the message ended, as the delta of a stream says it.
func (w messageWriter) end() Object {
	reason := w.Finish
	if name, ok := stopReasons[reason]; ok {
		reason = name
	}
	var sequence, details any
	switch {
	case w.Refusal:
		reason = "refusal"
		details = Object{{"type", "refusal"}, {"category", "general_harms"}, {"explanation", w.text()}}
	case w.StopSequence != "":
		reason, sequence = "stop_sequence", w.StopSequence
	}
	o := Object{{"stop_reason", reason}, {"stop_sequence", sequence}}
	if details != nil {
		o = append(o, member{"stop_details", details})
	}
	return o
}

// block is a content block: whole, as it begins, and what is added to it.
type block struct {
	whole, start Object
	deltas       []Object
	paced        bool // its deltas are pieces of the answer: of text, or of the first call
}

// blocks are those of the message: thinking, what tools at the provider did, then
// the text or the calls. A refusal has none, as Anthropic's before any output.
func (w messageWriter) blocks() []block {
	if w.Refusal {
		return nil
	}
	var list []block
	if len(w.Reasoning) > 0 {
		list = append(list, w.thinkingBlock())
	}
	for _, o := range w.Hosted {
		list = append(list, hostedBlock(o))
	}
	for i, c := range w.Calls {
		list = append(list, w.toolUseBlock(i, c))
	}
	if len(w.Calls) == 0 && len(w.Text) > 0 {
		list = append(list, w.textBlock())
	}
	return list
}

func (w messageWriter) thinkingBlock() block {
	text := w.reasoningText()
	signature := sign(w.Model, text)
	if w.Redacted {
		o := Object{{"type", "redacted_thinking"}, {"data", signature}}
		return block{whole: o, start: o}
	}
	b := block{start: Object{{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}}
	if w.ThinkingOmitted {
		text = ""
	} else {
		for _, piece := range w.Reasoning {
			b.deltas = append(b.deltas, Object{{"type", "thinking_delta"}, {"thinking", piece}})
		}
	}
	b.deltas = append(b.deltas, Object{{"type", "signature_delta"}, {"signature", signature}})
	b.whole = b.start.With("thinking", text).With("signature", signature)
	return b
}

// hostedBlock streams the input of a call in one piece and a result whole.
func hostedBlock(o Object) block {
	if !o.Has("input") {
		return block{whole: o, start: o}
	}
	input := Object{{"type", "input_json_delta"}, {"partial_json", string(Encode(o.Get("input")))}}
	return block{whole: o, start: o.With("input", Object{}), deltas: []Object{input}}
}

// toolUseBlock begins with an empty piece of input, as Anthropic's do.
func (w messageWriter) toolUseBlock(i int, c Call) block {
	id := "toolu_" + strings.TrimPrefix(w.callID(0, i), "call_")
	o := Object{{"type", "tool_use"}, {"id", id}, {"name", c.Name}, {"input", Object{}}}
	b := block{start: o, whole: o.With("input", toolInput(c.arguments())), paced: i == 0}
	for _, piece := range append([]string{""}, c.Arguments...) {
		b.deltas = append(b.deltas, Object{{"type", "input_json_delta"}, {"partial_json", piece}})
	}
	return b
}

// toolInput is the object of the arguments. Without its end, as at the limit of
// tokens, it is an empty one.
func toolInput(arguments string) any {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &object) != nil || object == nil {
		return Object{}
	}
	return json.RawMessage(arguments)
}

// textBlock cites before it says: the citations come first in a stream.
func (w messageWriter) textBlock() block {
	b := block{start: Object{{"type", "text"}, {"text", ""}}, paced: true}
	b.whole = b.start.With("text", w.text())
	if len(w.Citations) > 0 {
		b.start, b.whole = b.start.With("citations", []Object{}), b.whole.With("citations", w.Citations)
		for _, c := range w.Citations {
			b.deltas = append(b.deltas, Object{{"type", "citations_delta"}, {"citation", c}})
		}
	}
	for _, piece := range w.Text {
		b.deltas = append(b.deltas, Object{{"type", "text_delta"}, {"text", piece}})
	}
	return b
}

// messages is the usage in the Messages API: its input leaves the cache out.
func (u Usage) messages() Object {
	o := Object{
		{"input_tokens", max(0, u.Input-u.CacheRead-u.CacheWrite-u.CacheWriteHour)},
		{"cache_creation_input_tokens", u.CacheWrite + u.CacheWriteHour}, {"cache_read_input_tokens", u.CacheRead},
		{"cache_creation", Object{{"ephemeral_5m_input_tokens", u.CacheWrite}, {"ephemeral_1h_input_tokens", u.CacheWriteHour}}},
		{"output_tokens", u.Output}, {"service_tier", "standard"},
	}
	if u.Reasoning > 0 {
		o = append(o, member{"output_tokens_details", Object{{"thinking_tokens", u.Reasoning}}})
	}
	if u.Searches > 0 {
		o = append(o, member{"server_tool_use", Object{{"web_search_requests", u.Searches}, {"web_fetch_requests", 0}}})
	}
	return o
}
