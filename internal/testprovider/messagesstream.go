package testprovider

import "slices"

// stream is the reply as events, in Anthropic's order:
//
//	message_start
//	for each block, one after another:
//	  content_block_start, content_block_delta …, content_block_stop
//	message_delta, message_stop
//
// A ping follows the first start of a block.
func (w messageWriter) stream() *Stream {
	message := w.begin([]Object{}).With("usage", w.Usage.begun())
	s := &Stream{head: []Event{messageEvent("message_start", Object{{"message", message}})}}
	blocks := w.blocks()
	first := len(blocks) // of the answer
	if i := slices.IndexFunc(blocks, func(b block) bool { return b.answer }); i >= 0 {
		first = i
	}
	for i, b := range blocks[:first] {
		s.head = append(s.head, b.events(i)...)
	}
	var ends []Event // of the text
	switch {
	case first == len(blocks): // nothing is said
	case len(w.Calls) > 0:
		var calls []Event
		for i, b := range blocks[first:] {
			calls = append(calls, b.events(first+i)...)
		}
		s.head = append(s.head, calls[0])
		s.pieces, s.piece = len(calls)-1, func(i int) Event { return calls[1+i] }
	default:
		text := blocks[first].events(first)
		last := len(text) - 1
		s.head, ends = append(s.head, text[:last]...), text[last:]
		s.pieces, s.piece = len(w.Text), func(i int) Event {
			e := blockDelta(first, Object{{"type", "text_delta"}, {"text", w.Text[i]}})
			e.Text = true
			return e
		}
	}
	if len(blocks) > 0 {
		s.head = slices.Insert(s.head, 2, messageEvent("ping", nil))
	}
	s.tail = func() []Event {
		end := Object{{"delta", w.end()}, {"usage", w.Usage.messages().Without("service_tier", "cache_creation")}}
		return append(slices.Clip(ends), messageEvent("message_delta", end), messageEvent("message_stop", nil))
	}
	return s
}

// events are those of a block; of text only the frame and the citations.
func (b block) events(index int) []Event {
	list := []Event{messageEvent("content_block_start", Object{{"index", index}, {"content_block", b.start}})}
	for _, d := range b.deltas {
		e := blockDelta(index, d)
		e.Text = b.paced && d.Get("partial_json") != ""
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
