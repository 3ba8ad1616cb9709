package fake

import (
	"slices"
	"strings"
)

const (
	// UnicodeText is the answer of the model "unicode-split".
	UnicodeText = "Grüße aus 世界, 🙂 Ende"
	// RefusalText is the answer of the model "refusal".
	RefusalText = "I will not help with that"
	// ThoughtText is what the model "reasoning" thinks before it answers.
	ThoughtText = "first this, then that"

	// HugeBytes is how much text the model "huge" answers.
	HugeBytes = 8 << 20
	// HugeChunkBytes is the text in the one long line of "huge-chunk".
	HugeChunkBytes = 1 << 20

	hugePiece = 64 << 10
	eventText = "word "
)

// pieces is the text of the answer, cut as it is streamed.
func (c *call) pieces() []string {
	if c.said == nil {
		c.said = c.say()
	}
	return c.said
}

func (c *call) say() []string {
	switch {
	case c.mode.reply == replyHuge:
		return slicesOf(strings.Repeat("0123456789abcde ", HugeBytes/16), hugePiece)
	case c.mode.reply == replyHugeChunk:
		return []string{"one ", strings.Repeat("0123456789abcde ", HugeChunkBytes/16), "end"}
	case c.mode.reply == replyUnicode:
		return words(UnicodeText)
	case c.mode.reply == replyRefusal:
		return words(RefusalText)
	case c.mode.events > 0:
		return slices.Repeat([]string{eventText}, c.mode.events)
	case c.mode.canned:
		return words(strings.Repeat("A plain answer of a model. ", 20))
	case c.mode.reply == replyAgent:
		return words(c.tools.text(c.prompt))
	case c.schema != nil:
		return slicesOf(string(encode(c.schema.sample(c.prompt, 0))), 8)
	}
	return words("You said: " + c.prompt)
}

func (c *call) text() string { return strings.Join(c.pieces(), "") }

// words cuts after spaces, so that the pieces joined are the text.
func words(text string) []string { return strings.SplitAfter(text, " ") }

// slicesOf cuts ASCII text every n bytes.
func slicesOf(text string, n int) []string {
	var out []string
	for len(text) > n {
		out = append(out, text[:n])
		text = text[n:]
	}
	return append(out, text)
}

// toolCall is a call that the model makes; fragments are its arguments in pieces.
type toolCall struct {
	id, name  string
	namespace string
	custom    bool // Responses only: its arguments are no JSON
	fragments []string
}

func (t toolCall) arguments() string { return strings.Join(t.fragments, "") }

// toolCalls are the calls of this answer, none once a tool has answered: that of
// an agent, or two, named after the first tools that the request offers.
func (c *call) toolCalls() []toolCall {
	switch {
	case c.tools.answered:
		return nil
	case c.mode.reply == replyAgent:
		return c.tools.calls(c.prompt)
	case c.mode.reply != replyTools:
		return nil
	}
	calls := []toolCall{
		{id: "call_fake_a", name: "get_weather", fragments: []string{`{"city":`, `"Oslo"`, `}`}},
		{id: "call_fake_b", name: "get_time", fragments: []string{`{"zone":`, `"UTC"`, `}`}},
	}
	for i := range calls {
		if offered := c.tools.offered; len(offered) > 0 {
			calls[i].name = offered[min(i, len(offered)-1)].name()
		}
	}
	return calls
}

// usage counts words: the numbers are made up but stable.
type usage struct{ prompt, completion, reasoning int }

func (c *call) usage() usage {
	u := usage{prompt: max(1, len(strings.Fields(c.prompt))), completion: len(c.pieces())}
	if c.mode.reply == replyReasoning {
		u.reasoning = len(words(ThoughtText))
		u.completion += u.reasoning
	}
	switch {
	case c.mode.usage == usageZero:
		u = usage{}
	case c.allowed == 0:
	case c.mode.usage == usageAll:
		u.completion = c.allowed
	case c.mode.usage == usageMore:
		u.completion = 2 * c.allowed
	}
	return u
}

func (u usage) total() int { return u.prompt + u.completion }

// chat is the usage object of chat completions; OpenRouter adds money.
func (u usage) chat(f family) object {
	o := object{
		{"prompt_tokens", u.prompt},
		{"completion_tokens", u.completion},
		{"total_tokens", u.total()},
		{"prompt_tokens_details", object{{"cached_tokens", 0}, {"audio_tokens", 0}}},
		{"completion_tokens_details", object{{"reasoning_tokens", u.reasoning}, {"audio_tokens", 0}}},
	}
	if f == openRouter {
		o = append(o, field{"cost", u.cost()}, field{"is_byok", false}, field{"cost_details", object{
			{"upstream_inference_cost", nil},
			{"upstream_inference_prompt_cost", 0.0},
			{"upstream_inference_completions_cost", 0.0},
		}})
	}
	return o
}

// cost is in USD, a thousandth of a cent a token.
func (u usage) cost() float64 { return float64(u.total()) / 100_000 }

func (u usage) responses(f family) object {
	o := object{
		{"input_tokens", u.prompt},
		{"input_tokens_details", object{{"cached_tokens", 0}, {"cache_write_tokens", 0}}},
		{"output_tokens", u.completion},
		{"output_tokens_details", object{{"reasoning_tokens", u.reasoning}}},
		{"total_tokens", u.total()},
	}
	if f == openRouter {
		o = append(o, field{"cost", u.cost()})
	}
	return o
}
