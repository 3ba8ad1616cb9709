package fake

import (
	"fmt"
	"net/http"
)

const (
	providerName = "Fake"
	fingerprint  = "fp_fake"
)

// chatScript answers POST /chat/completions.
func chatScript(c *call) script {
	if c.stream || c.mode.events > 0 {
		return c.streamScript(c.chatEvents(), func(int) []event { return []event{c.chatError()} })
	}
	return c.plainScript(encode(c.chatResult()), errorScript(c.family, http.StatusInternalServerError, "", c.complaint()))
}

func (c *call) chatID() string {
	if c.family == openRouter {
		return fmt.Sprintf("gen-fake-%d", c.serial)
	}
	return fmt.Sprintf("chatcmpl-fake-%d", c.serial)
}

// envelope is what a chat result and a chunk have in common.
func (c *call) envelope(kind string) object {
	o := object{{"id", c.chatID()}}
	if c.family == openRouter {
		o = append(o, field{"provider", providerName})
	}
	o = append(o, field{"object", kind}, field{"created", c.created}, field{"model", c.model})
	if c.family == openAI {
		o = append(o, field{"service_tier", "default"})
	}
	return append(o, field{"system_fingerprint", fingerprint})
}

// odd bends the envelope as the behaviour asks.
func (c *call) odd(o object) object {
	if c.mode.floatCreated {
		o = o.with("created", float64(c.created)+0.25)
	}
	if c.mode.nulls {
		o = o.with("system_fingerprint", nil).with("service_tier", nil).with("error", nil)
		if o.get("usage") == nil {
			o = o.with("usage", nil)
		}
	}
	if c.mode.sloppy {
		o = o.without("id", "object", "created", "system_fingerprint", "service_tier")
	}
	return o
}

func (c *call) finishReason() string {
	switch {
	case c.mode.finish != "":
		return c.mode.finish
	case len(c.toolCalls()) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (c *call) chatResult() object {
	msg := object{{"role", "assistant"}, {"content", c.text()}, {"refusal", nil}}
	if c.family == openAI {
		msg = msg.with("annotations", []any{})
	}
	switch {
	case c.mode.reply == replyRefusal:
		msg = msg.with("content", nil).with("refusal", RefusalText)
	case c.mode.reply == replyReasoning:
		msg = append(msg, c.thought(ThoughtText)...)
	}
	if calls := c.toolCalls(); len(calls) > 0 {
		list := make([]object, len(calls))
		for i, t := range calls {
			list[i] = object{{"id", t.id}, {"type", "function"},
				{"function", object{{"name", t.name}, {"arguments", t.arguments()}}}}
		}
		msg = msg.with("content", nil).with("tool_calls", list)
	}
	if c.mode.nulls {
		msg = msg.with("audio", nil).with("function_call", nil).with("tool_calls", nil)
	}
	choice := object{{"index", 0}, {"message", msg}, {"logprobs", nil}, {"finish_reason", c.finishReason()}}
	if c.family == openRouter {
		choice = choice.with("native_finish_reason", c.finishReason())
	}
	if c.mode.sloppy {
		choice = choice.without("index", "logprobs").with("message", msg.without("role", "refusal", "annotations"))
	}
	o := c.envelope("chat.completion").with("choices", []any{choice})
	if c.mode.usage != usageNever && !c.mode.nulls {
		o = o.with("usage", c.usage().chat(c.family))
	}
	return c.odd(o)
}

// thought is text of the reasoning, under the names that providers use: vLLM and
// DeepSeek one, OpenRouter the other two.
func (c *call) thought(text string) object {
	if c.family == openRouter {
		return object{{"reasoning", text}, {"reasoning_details", []any{
			object{{"type", "reasoning.text"}, {"text", text}, {"index", 0}}}}}
	}
	return object{{"reasoning_content", text}}
}
