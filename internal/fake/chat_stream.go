package fake

import "fmt"

// chatEvents is the whole stream of a chat answer.
func (c *call) chatEvents() []event {
	var out []event
	sent := 0
	emit := func(text bool, delta object, finish any) {
		if text {
			sent++
		}
		out = append(out, event{data: encode(c.chunk(len(out), sent, delta, finish)), text: text})
	}
	emit(false, object{{"role", "assistant"}, {"content", ""}, {"refusal", nil}}, nil)
	if c.mode.reply == replyReasoning {
		for _, piece := range words(ThoughtText) {
			emit(false, c.thought(piece), nil)
		}
	}
	if calls := c.toolCalls(); len(calls) > 0 {
		for _, delta := range toolDeltas(calls) {
			emit(false, delta, nil)
		}
	} else {
		key := "content"
		if c.mode.reply == replyRefusal {
			key = "refusal"
		}
		for _, piece := range c.pieces() {
			if c.mode.emptyDeltas {
				emit(false, object{}, nil)
			}
			emit(true, object{{key, piece}}, nil)
		}
	}
	emit(false, object{}, c.finishReason())
	if c.usageChunk() {
		out = append(out, event{data: encode(c.lastChunk(len(out)))})
	}
	if c.mode.noDone {
		return out
	}
	return append(out, doneEvent)
}

func (c *call) usageChunk() bool {
	switch c.mode.usage {
	case usageAlways:
		return true
	case usageAsAsked, usageAll, usageMore, usageZero:
		return c.includeUsage
	}
	return false
}

// chunk is number n of the stream, after sent pieces of text.
func (c *call) chunk(n, sent int, delta object, finish any) object {
	if c.mode.roleEach {
		delta = delta.with("role", "assistant")
	}
	if c.mode.nulls {
		if delta.get("role") == nil {
			delta = delta.with("role", nil)
		}
		delta = delta.with("refusal", nil).with("tool_calls", nil).with("function_call", nil)
	}
	choice := object{{"index", 0}, {"delta", delta}, {"logprobs", nil}, {"finish_reason", finish}}
	if c.family == openRouter {
		choice = choice.with("native_finish_reason", finish)
	}
	if c.mode.sloppy {
		choice = object{{"delta", delta.without("role", "refusal")}}
		if finish != nil {
			choice = choice.with("finish_reason", finish)
		}
	}
	o := c.envelope("chat.completion.chunk").with("choices", []any{choice})
	u := c.usage()
	switch {
	case c.mode.usage == usageEach:
		u.completion = sent
		o = o.with("usage", u.chat(c.family))
	case c.mode.usage == usageInline && finish != nil:
		o = o.with("usage", u.chat(c.family))
	case c.mode.usage == usageAsAsked && c.includeUsage && c.family == openAI:
		o = o.with("usage", nil)
	}
	return c.numbered(n, c.odd(o))
}

// lastChunk carries the usage. OpenAI sends no choice with it, OpenRouter one
// with an empty delta that repeats the finish reason.
func (c *call) lastChunk(n int) object {
	choices := []any{}
	if c.family == openRouter {
		choices = []any{object{{"index", 0}, {"delta", object{{"role", "assistant"}, {"content", ""}}},
			{"finish_reason", c.finishReason()}, {"native_finish_reason", c.finishReason()}, {"logprobs", nil}}}
	}
	o := c.envelope("chat.completion.chunk").with("choices", choices).with("usage", c.usage().chat(c.family))
	return c.numbered(n, c.odd(o))
}

func (c *call) numbered(n int, o object) object {
	if c.mode.idChanges {
		return o.with("id", fmt.Sprintf("%s-%d", c.chatID(), n))
	}
	return o
}

// toolDeltas interleaves the fragments of parallel calls: id and name in the
// first of each, then the arguments in turn.
func toolDeltas(calls []toolCall) []object {
	var out []object
	add := func(call object) { out = append(out, object{{"tool_calls", []any{call}}}) }
	longest := 0
	for i, t := range calls {
		add(object{{"index", i}, {"id", t.id}, {"type", "function"},
			{"function", object{{"name", t.name}, {"arguments", ""}}}})
		longest = max(longest, len(t.fragments))
	}
	for n := range longest {
		for i, t := range calls {
			if n < len(t.fragments) {
				add(object{{"index", i}, {"function", object{{"arguments", t.fragments[n]}}}})
			}
		}
	}
	return out
}

// chatError is the error event in the middle of a chat stream.
func (c *call) chatError() event {
	if c.family == openAI {
		return event{data: encode(errorBody(openAI, 500, "", c.complaint()))}
	}
	choice := object{{"index", 0}, {"delta", object{{"content", ""}}},
		{"finish_reason", "error"}, {"native_finish_reason", "error"}, {"logprobs", nil}}
	o := c.envelope("chat.completion.chunk").with("error", routerError(502, "", c.complaint())).with("choices", []any{choice})
	return event{data: encode(o)}
}
