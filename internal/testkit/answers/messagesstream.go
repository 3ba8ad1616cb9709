package answers

import "slices"

// stream is the reply as events, in Anthropic's order:
//
//	message_start
//	for each block, one after another:
//	  content_block_start, content_block_delta …, content_block_stop
//	message_delta, message_stop
//
// A ping follows the first start of a block.
func (w messageWriter) stream() []Event {
	message := w.begin([]Object{}).With("usage", w.Usage.begun())
	events := []Event{messageEvent("message_start", Object{{"message", message}})}
	for i, b := range w.blocks() {
		events = append(events, b.events(i)...)
	}
	if len(events) > 1 {
		events = slices.Insert(events, 2, messageEvent("ping", nil))
	}
	end := Object{{"delta", w.end()}, {"usage", w.Usage.messages().Without("service_tier", "cache_creation")}}
	return append(events, messageEvent("message_delta", end), messageEvent("message_stop", nil))
}

// events are the events of a block.
func (b block) events(index int) []Event {
	list := []Event{messageEvent("content_block_start", Object{{"index", index}, {"content_block", b.start}})}
	for _, d := range b.deltas {
		e := blockDelta(index, d)
		e.Text = b.paced && (d.Has("text") || d.Has("partial_json") && d.Get("partial_json") != "")
		list = append(list, e)
	}
	return append(list, messageEvent("content_block_stop", Object{{"index", index}}))
}

func blockDelta(index int, d Object) Event {
	return messageEvent("content_block_delta", Object{{"index", index}, {"delta", d}})
}

func messageEvent(kind string, rest Object) Event {
	return Event{Name: kind, Data: append(Object{{"type", kind}}, rest...)}
}

// begun is the usage in message_start: the input, and the first token of output.
func (u Usage) begun() Object {
	o := u.messages().Without("output_tokens_details", "server_tool_use")
	return o.With("output_tokens", min(1, u.Output))
}
