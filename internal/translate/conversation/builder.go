package conversation

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Builder makes a conversation of what a request of any API says, as a target takes it.
type Builder struct{ c *Conversation }

// usualTurns is for how many turns a conversation has room before it grows.
const usualTurns = 8

// Build returns the builder of a conversation. Refusals go to body.
func Build(body translate.Reader, rules *Rules) Builder {
	return Builder{&Conversation{rules: rules, body: body, Turns: make([]Turn, 0, usualTurns)}}
}

// Rules are those of the target.
func (b Builder) Rules() *Rules { return b.c.rules }

// Add adds a turn.
func (b Builder) Add(t Turn) { b.c.Turns = append(b.c.Turns, t) }

// LeaveOut notes that a field is not sent.
func (b Builder) LeaveOut(field string) {
	if !slices.Contains(b.c.LeftOut, field) {
		b.c.LeftOut = append(b.c.LeftOut, field)
	}
}

// Append adds a part to others, unless it is a text that the target does not take. What is cached
// behind such a text is cached behind the part before.
func (b Builder) Append(parts []Part, p Part) []Part {
	if p.Kind&(Text|Refusal) != 0 && !b.c.rules.Texts.takes(p.Text) {
		if n := len(parts); n > 0 && parts[n-1].Cache == nil {
			parts[n-1].Cache = p.Cache
		}
		return parts
	}
	return append(parts, p)
}

// thoughts adds the thoughts in the member reasoning_details of a message that return to the
// target.
func (b Builder) thoughts(parts []Part, message translate.Reader) []Part {
	if b.c.rules.Origin != "" {
		translate.EachThought(message, b.c.rules.Origin, func(d *translate.Thought) {
			thought := *d
			parts = append(parts, Part{Kind: Thought, Thought: &thought})
		})
	}
	return parts
}

// signatures returns those of the calls of a message in its reasoning_details, by the ids of the
// calls.
func (b Builder) signatures(message translate.Reader) (signatures map[string][]byte) {
	if b.c.rules.Signatures == "" {
		return nil
	}
	message.Each("reasoning_details", translate.MaxParts, func(_ int, detail translate.Reader) {
		typ, from, id := detail.DecodedText("type"), detail.DecodedText("format"), detail.DecodedText("id")
		data := translate.NonEmptyText(detail, "data")
		if data == nil || typ != "reasoning.encrypted" || from != b.c.rules.Signatures || id == "" {
			return
		}
		if signatures == nil {
			signatures = map[string][]byte{}
		}
		signatures[id] = data
	})
	return signatures
}

// Answer is what the model said, gathered for one turn.
type Answer struct {
	Texts, Calls []Part
	Reasoning    []byte // JSON without quotes
	Details      []byte // the elements of reasoning_details
}

// Answer adds the turn of the model. What is refused in its details is refused in o, which had them
// in another form.
func (b Builder) Answer(o translate.Reader, a Answer) {
	parts := b.signed(o, a.Details, a.Calls)
	if len(a.Reasoning) > 0 && b.c.rules.Reasoning {
		parts = append(parts, Part{Kind: Reasoning, Text: a.Reasoning})
	}
	b.Add(Turn{Role: Assistant, Word: "assistant", Parts: append(append(parts, a.Texts...), a.Calls...)})
}

// signed returns the thoughts in elements of reasoning_details, and gives calls their signatures in
// them.
func (b Builder) signed(o translate.Reader, elements []byte, calls []Part) []Part {
	if len(elements) == 0 {
		return nil
	}
	object := slices.Concat([]byte(`{"reasoning_details":[`), elements, []byte("]}"))
	details := translate.OpenInside(o, object, o.Param("reasoning"))
	signatures := b.signatures(details)
	for _, p := range calls {
		p.Call.Signature = signatures[decoded(p.Call.ID)]
	}
	return b.thoughts(nil, details)
}

// Call returns the part for a call of the model in the turn that is added next.
func (b Builder) Call(call ToolCall, cache []byte) Part {
	c, id := b.c, decoded(call.ID)
	call.turn, call.n = len(c.Turns), len(c.calls)
	c.calls = append(c.calls, &call)
	if c.open == nil {
		c.open = make(map[string]openCalls)
	}
	same := c.open[id]
	if same.last != nil && same.last.turn == call.turn {
		same.last.again = &call
	} else {
		same.next = &call
	}
	same.last = &call
	c.open[id] = same
	return Part{Kind: Call, Cache: cache, Call: &call}
}

// openCalls are those of one id in the last turn that has it: from the first without a result, or
// the last, by their member again.
type openCalls struct{ next, last *ToolCall }

// CallOf returns the call that a result with this quoted id answers, nil for none: of the last turn
// that has the id, the first call without a result.
func (b Builder) CallOf(id []byte) *ToolCall {
	same := b.c.open[string(text(id))]
	if same.next == nil {
		return nil
	}
	if same.next.results > 0 && same.next.again != nil {
		same.next = same.next.again
		b.c.open[string(text(id))] = same
	}
	same.next.results++
	return same.next
}

// Result adds the turn of a result.
func (b Builder) Result(r *ToolResult, cache []byte) {
	b.Add(Turn{Role: Results, Word: "tool", Parts: []Part{{Kind: Result, Result: r, Cache: cache}}})
}

// Tool adds a tool.
func (b Builder) Tool(t Tool) {
	if t.Name != nil {
		t.Name = b.c.toolName(t.Name)
	}
	b.c.Tools = append(b.c.Tools, t)
}

// Choose sets the choice among the tools.
func (b Builder) Choose(c Choice) {
	if c.One != nil {
		c.One.Name = b.c.toolName(c.One.Name)
	}
	for i := range c.Among {
		c.Among[i].Name = b.c.toolName(c.Among[i].Name)
	}
	b.c.Choice = c
}

// Finish returns the conversation as the target takes it. It means nothing after a refusal.
func (b Builder) Finish() *Conversation {
	c := b.c
	if translate.Failure(c.body) != nil { // what was read is not whole
		return c
	}
	c.checkResults()
	c.orderResults()
	c.nameCalls()
	if c.rules.NoNone && c.Choice.Mode == "none" {
		c.Tools, c.Choice = nil, Choice{}
	}
	c.leaveOne()
	c.addCalled()
	c.markFailures()
	c.placeSystem()
	c.merge()
	c.checkEnds()
	return c
}
