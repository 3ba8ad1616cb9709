package fake

import "fmt"

// item is one output item with the events between its added and its done.
type item struct {
	added, done object
	between     []itemEvent
}

// itemEvent is an event of an item, without type, item_id and output_index.
type itemEvent struct {
	kind string
	text bool
	rest object
}

// items is the output: thoughts, then text or tool calls.
func (c *call) items() []item {
	var out []item
	if c.mode.reply == replyReasoning {
		out = append(out, c.reasoningItem())
	}
	calls := c.toolCalls()
	for i, t := range calls {
		out = append(out, c.callItem(i, t))
	}
	if len(calls) == 0 {
		out = append(out, c.messageItem())
	}
	return out
}

func (c *call) messageItem() item {
	status := "completed"
	if c.mode.finish == "length" || c.mode.finish == "content_filter" {
		status = "incomplete"
	}
	part := func(text string) object {
		if c.mode.reply == replyRefusal {
			return object{{"type", "refusal"}, {"refusal", text}}
		}
		return object{{"type", "output_text"}, {"text", text}, {"annotations", []any{}}, {"logprobs", []any{}}}
	}
	message := func(status string, content ...object) object {
		if content == nil {
			content = []object{}
		}
		return object{{"id", fmt.Sprintf("msg_fake_%d", c.serial)}, {"type", "message"}, {"role", "assistant"},
			{"status", status}, {"content", content}}
	}
	text := c.text()
	it := item{added: message("in_progress"), done: message(status, part(text))}
	add := func(kind string, isText bool, rest object) {
		it.between = append(it.between, itemEvent{kind, isText, append(object{{"content_index", 0}}, rest...)})
	}
	add("response.content_part.added", false, object{{"part", part("")}})
	kind, key := "response.output_text", "text"
	logprobs := object{{"logprobs", []any{}}}
	if c.mode.reply == replyRefusal {
		kind, key, logprobs = "response.refusal", "refusal", nil
	}
	for _, piece := range c.pieces() {
		if c.mode.emptyDeltas {
			add(kind+".delta", false, append(object{{"delta", ""}}, logprobs...))
		}
		add(kind+".delta", true, append(object{{"delta", piece}}, logprobs...))
	}
	add(kind+".done", false, append(object{{key, text}}, logprobs...))
	add("response.content_part.done", false, object{{"part", part(text)}})
	return it
}

func (c *call) callItem(i int, t toolCall) item {
	if t.custom {
		return c.customCallItem(i, t)
	}
	call := func(status, arguments string) object {
		return object{{"id", fmt.Sprintf("fc_fake_%d_%d", c.serial, i)}, {"type", "function_call"}, {"status", status},
			{"call_id", t.id}, {"name", t.name}, {"arguments", arguments}}.inNamespace(t.namespace)
	}
	it := item{added: call("in_progress", ""), done: call("completed", t.arguments())}
	for _, fragment := range t.fragments {
		it.between = append(it.between, itemEvent{"response.function_call_arguments.delta", false, object{{"delta", fragment}}})
	}
	it.between = append(it.between, itemEvent{"response.function_call_arguments.done", false,
		object{{"name", t.name}, {"arguments", t.arguments()}}})
	return it
}

// customCallItem is a call of a custom tool: its input is free text.
func (c *call) customCallItem(i int, t toolCall) item {
	call := func(status, input string) object {
		return object{{"id", fmt.Sprintf("ctc_fake_%d_%d", c.serial, i)}, {"type", "custom_tool_call"}, {"status", status},
			{"call_id", t.id}, {"name", t.name}, {"input", input}}.inNamespace(t.namespace)
	}
	it := item{added: call("in_progress", ""), done: call("completed", t.arguments())}
	for _, fragment := range t.fragments {
		it.between = append(it.between, itemEvent{"response.custom_tool_call_input.delta", false, object{{"delta", fragment}}})
	}
	it.between = append(it.between, itemEvent{"response.custom_tool_call_input.done", false, object{{"input", t.arguments()}}})
	return it
}

// inNamespace names the namespace of a called tool, if it has one.
func (o object) inNamespace(name string) object {
	if name == "" {
		return o
	}
	return append(o, field{"namespace", name})
}

func (c *call) reasoningItem() item {
	part := func(text string) object { return object{{"type", "summary_text"}, {"text", text}} }
	reasoning := func(summary ...object) object {
		if summary == nil {
			summary = []object{}
		}
		return object{{"id", fmt.Sprintf("rs_fake_%d", c.serial)}, {"type", "reasoning"}, {"summary", summary}}
	}
	it := item{added: reasoning(), done: reasoning(part(ThoughtText))}
	add := func(kind string, rest object) {
		it.between = append(it.between, itemEvent{kind, false, append(object{{"summary_index", 0}}, rest...)})
	}
	add("response.reasoning_summary_part.added", object{{"part", part("")}})
	for _, piece := range words(ThoughtText) {
		add("response.reasoning_summary_text.delta", object{{"delta", piece}})
	}
	add("response.reasoning_summary_text.done", object{{"text", ThoughtText}})
	add("response.reasoning_summary_part.done", object{{"part", part(ThoughtText)}})
	return it
}
