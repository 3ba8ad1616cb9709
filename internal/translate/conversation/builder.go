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

// LeaveOut notes that a field is not sent.
func (b Builder) LeaveOut(field string) {
	if !slices.Contains(b.c.LeftOut, field) {
		b.c.LeftOut = append(b.c.LeftOut, field)
	}
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

// Signed returns the thoughts in elements of reasoning_details, which o had in another form, and gives calls
// their signatures in them.
func (b Builder) Signed(o translate.Reader, elements []byte, calls []Part) []Part {
	if len(elements) == 0 {
		return nil
	}
	object := slices.Concat([]byte(`{"reasoning_details":[`), elements, []byte("]}"))
	details := translate.OpenInside(o, object, o.Param("reasoning"))
	signatures := b.Signatures(details)
	for _, p := range calls {
		p.Call.Signature = signatures[decoded(p.Call.ID)]
	}
	return b.Thoughts(nil, details)
}

// Call returns the part for a call of the model in the turn that is added next.
func (b Builder) Call(call ToolCall, cache []byte) Part {
	c, id := b.c, decoded(call.ID)
	call.turn, call.n = len(c.Turns), len(c.calls)
	c.calls = append(c.calls, &call)
	if c.open == nil {
		c.open = make(map[string]*openCalls)
	}
	if same := c.open[id]; same != nil && same.calls[0].turn == call.turn {
		same.calls = append(same.calls, &call)
	} else {
		c.open[id] = &openCalls{calls: []*ToolCall{&call}}
	}
	return Part{Kind: Call, Cache: cache, Call: &call}
}

// openCalls are those of one id in the last turn that has it, in their order.
type openCalls struct {
	calls    []*ToolCall
	answered int // how many results they have
}

// CallOf returns the call that a result with this id answers, nil for none: of the last turn that has the id,
// the first call without a result.
func (b Builder) CallOf(id string) *ToolCall {
	same := b.c.open[id]
	if same == nil {
		return nil
	}
	same.answered++
	call := same.calls[min(same.answered, len(same.calls))-1]
	call.results++
	return call
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
