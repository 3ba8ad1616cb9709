package faults

import (
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
)

const (
	// UnicodeText is the answer of the model "unicode-split".
	UnicodeText = "Grüße aus 世界, 🙂 Ende"
	// RefusalText is the answer of the model "refusal".
	RefusalText = "I will not help with that"
	// ReasoningText is the reasoning of the model "reasoning".
	ReasoningText = "first this, then that"

	// HugeBytes is how much text the model "huge" answers: more than the gateway holds of a stream, and
	// not much more, because tests ask each dialect for it in each API under the race detector.
	HugeBytes = 2 << 20
	// HugeChunkBytes is the text in the one long line of "huge-chunk".
	HugeChunkBytes = 1 << 20

	hugePiece = 64 << 10
	filler    = "0123456789abcde "
)

// prepare decides what a good provider says to the call, and lets the behaviour
// change it.
func (c *call) prepare() error {
	text, err := c.Formatted("You said: " + c.prompt)
	if err != nil {
		return err
	}
	c.reply.Text, c.reply.Choices, c.reply.Finish = words(text), 1, "stop"
	if c.Thinks {
		reasons(c)
		c.reply.ThinkingOmitted = c.ThinkingOmitted
	}
	if c.mode.reply != nil {
		c.mode.reply(c)
	}
	// Usage counts words: the numbers are made up but stable.
	u := &c.reply.Usage
	u.Input, u.Reasoning = max(1, len(strings.Fields(c.prompt))), len(c.reply.Reasoning)
	u.Output = len(c.reply.Text) + u.Reasoning
	u.Input += u.CacheRead + u.CacheWrite + u.CacheWriteHour
	// OpenRouter sends usage always; its include_usage has no effect.
	c.showUsage = c.api == openRouter || c.StreamOptions.IncludeUsage
	if c.mode.usage != nil {
		c.mode.usage(c)
	}
	return nil
}

// words cuts after spaces, so that the pieces joined are the text.
func words(text string) []string { return strings.SplitAfter(text, " ") }

func says(text string) func(*call) { return func(c *call) { c.reply.Text = words(text) } }

func saysWords(c *call) { c.reply.Text = slices.Repeat([]string{"word "}, c.mode.events) }

func saysHuge(c *call) {
	c.reply.Text = slices.Repeat([]string{strings.Repeat(filler, hugePiece/len(filler))}, HugeBytes/hugePiece)
}

func saysHugeChunk(c *call) {
	c.reply.Text = []string{"one ", strings.Repeat(filler, HugeChunkBytes/len(filler)), "end"}
}

func finishes(reason string) func(*call) { return func(c *call) { c.reply.Finish = reason } }

func reasons(c *call) { c.reply.Reasoning = words(ReasoningText) }

func refuses(c *call) { c.reply.Text, c.reply.Refusal = words(RefusalText), true }

func usageNever(c *call)  { c.showUsage = false }
func usageAlways(c *call) { c.showUsage = true }
func usesNothing(c *call) { c.reply.Usage = answers.Usage{} }

// usesLimit reports so many times the allowed output as used.
func usesLimit(times int) func(*call) {
	return func(c *call) {
		if _, limit := c.OutputLimit(); limit > 0 {
			c.reply.Usage.Output = times * limit
		}
	}
}

// calls makes the answer calls of tools.
func (c *call) calls(calls ...answers.Call) {
	c.reply.Calls, c.reply.Finish = calls, "tool_calls"
}

// callsTwo calls the first tools that the request offers, none once a tool has answered.
func callsTwo(c *call) {
	if c.Results() != nil {
		return
	}
	calls := []answers.Call{
		{Name: "get_weather", Arguments: []string{`{"city":`, `"Oslo"`, `}`}},
		{Name: "get_time", Arguments: []string{`{"zone":`, `"UTC"`, `}`}},
	}
	for i := range calls {
		if offered := c.offered(); len(offered) > 0 {
			calls[i].Name = offered[min(i, len(offered)-1)].Name
		}
	}
	c.calls(calls...)
}

// actsAsAgent makes the calls that a prompt of the form "use NAME ARGUMENTS" asks for, one in each
// answer: the next one is after a line "then use". The arguments of a custom tool are free text, and
// may have lines.
func actsAsAgent(c *call) {
	const next = "\nthen use "
	done := c.Answered()
	if results := c.Results(); results != nil && done > strings.Count(c.prompt, next) {
		c.reply.Text = words("The tool said: " + results[len(results)-1])
		return
	}
	if text, ok := compacted(c); ok {
		c.reply.Text = words(text)
		return
	}
	// Some clients put notes of their own before what the user said.
	const use = "\nuse "
	prompt := "\n" + strings.TrimSpace(c.prompt)
	at := strings.LastIndex(prompt, use)
	if strings.HasPrefix(prompt, use) {
		at = 0
	}
	if at < 0 {
		return
	}
	steps := strings.Split(prompt[at+len(use):], next)
	rest := steps[min(done, len(steps)-1)]
	name, arguments, _ := strings.Cut(rest, " ")
	var names []string
	for _, tool := range c.offered() {
		if tool.Name == name {
			tool.Arguments = words(arguments)
			c.calls(tool)
			return
		}
		names = append(names, tool.Name)
	}
	c.reply.Text = words("No such tool is offered, only: " + strings.Join(names, ", "))
}

// offered are calls of the tools on offer, those in namespaces and in items of
// the input among them, still without arguments.
func (c *call) offered() (calls []answers.Call) {
	tools := c.Tools
	for _, m := range c.Input {
		tools = append(tools, m.Tools...)
	}
	for _, tool := range tools {
		members, namespace := []answers.Tool{tool}, ""
		if tool.Type == "namespace" {
			members, namespace = tool.Tools, tool.Name
		}
		for _, t := range members {
			name, computer := t.Callable().Name, t.Type == "computer"
			if computer {
				name = t.Type
			}
			calls = append(calls, answers.Call{Name: name, Namespace: namespace, Custom: t.Type == "custom", Computer: computer})
		}
	}
	return calls
}
