package conversation

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Builder makes a conversation of what a request of any API says, as a target takes it.
type Builder struct{ c *Conversation }

// Build returns the builder of a conversation. Refusals go to body.
func Build(body translate.Reader, rules *Rules) Builder {
	return Builder{&Conversation{rules: rules, body: body}}
}

// Rules are those of the target.
func (b Builder) Rules() *Rules { return b.c.rules }

// Add adds a turn.
func (b Builder) Add(t Turn) { b.c.Turns = append(b.c.Turns, t) }

// Last returns the turn that was added last, nil for none.
func (b Builder) Last() *Turn {
	if n := len(b.c.Turns); n > 0 {
		return &b.c.Turns[n-1]
	}
	return nil
}

// LeaveOut notes that a field is not sent.
func (b Builder) LeaveOut(field string) {
	for _, known := range b.c.LeftOut {
		if known == field {
			return
		}
	}
	b.c.LeftOut = append(b.c.LeftOut, field)
}

// Append adds a part to others, unless it is a text that the target does not take. What is cached behind
// such a text is cached behind the part before.
func (b Builder) Append(parts []Part, p Part) []Part {
	if p.Kind&(Text|Refusal) != 0 && !b.c.rules.Texts.takes(p.Text) {
		if n := len(parts); n > 0 && parts[n-1].Cache == nil {
			parts[n-1].Cache = p.Cache
		}
		return parts
	}
	return append(parts, p)
}

// Thoughts adds the thoughts in the member reasoning_details of a message that return to the target.
func (b Builder) Thoughts(parts []Part, message translate.Reader) []Part {
	if b.c.rules.Origin != "" {
		translate.EachThought(message, b.c.rules.Origin, func(d *translate.Thought) {
			thought := *d
			parts = append(parts, Part{Kind: Thought, Thought: &thought})
		})
	}
	return parts
}

// Signatures returns those of the calls of a message in its reasoning_details, by the ids of the calls.
func (b Builder) Signatures(message translate.Reader) (signatures map[string][]byte) {
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

// Details returns the object that has these elements of reasoning_details, which o had in another form.
func Details(o translate.Reader, elements []byte) translate.Reader {
	return translate.OpenInside(o, slices.Concat([]byte(`{"reasoning_details":[`), elements, []byte("]}")), o.Param("reasoning"))
}

// Call returns the part for a call of the model in the turn that is added next.
func (b Builder) Call(call ToolCall, cache []byte) Part {
	call.turn, call.n = len(b.c.Turns), len(b.c.calls)
	b.c.calls = append(b.c.calls, &call)
	return Part{Kind: Call, Cache: cache, Call: &call}
}

// CallOf returns the call that a result with this id answers, nil for none: of the last turn that has the id,
// the first call without a result.
func (b Builder) CallOf(id string) (found *ToolCall) {
	for i := len(b.c.calls) - 1; i >= 0; i-- {
		call := b.c.calls[i]
		switch {
		case decoded(call.ID) != id:
		case found != nil && call.turn != found.turn:
			found.answered = true
			return found
		case found == nil || !call.answered:
			found = call
		}
	}
	if found != nil {
		found.answered = true
	}
	return found
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
