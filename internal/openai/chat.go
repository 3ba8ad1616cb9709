package openai

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

const (
	// maxChoices is OpenAI's bound of `n`; each choice costs state.
	maxChoices = 128
	// MaxTexts is the same for completions, which have n choices for each of several prompts.
	MaxTexts = 4096

	// maxHeldUsage bounds the usage object that is kept until a stream ends; real ones are under
	// 1 KiB.
	maxHeldUsage = 16 << 10
)

var (
	objectResult    = []byte(`"chat.completion"`)
	objectChunk     = []byte(`"chat.completion.chunk"`)
	objectText      = []byte(`"text_completion"`)
	jsonNull        = []byte("null")
	jsonEmptyObject = []byte("{}")
	jsonEmptyText   = []byte(`""`)
	jsonAssistant   = []byte(`"assistant"`)
)

// chat repairs the chat completion objects of one call: a whole one, or the chunks of a stream. The
// edits of an object go into its event.
type chat struct {
	call    Call
	shape   Shape
	stream  bool
	head    objectHead
	sum     Summary
	choices []choice // by index
	usage   []byte   // the last usage object, if the client gets it

	event *Event // the object in work
	*work        // of the event
}

// reset makes c that of a call. It keeps nothing of the one before but memory.
func (c *chat) reset(call Call, shape Shape, stream bool) {
	clear(c.choices)
	*c = chat{call: call, shape: shape, stream: stream, head: c.head, choices: c.choices[:0], usage: c.usage[:0]}
	c.head.reset(call.Model, shape, stream)
}

// empty leaves nothing of the call but memory that another can use.
func (c *chat) empty() {
	h := &c.head
	h.model, h.id, h.provider = emptied(h.model, maxScratch), emptied(h.id, maxScratch), emptied(h.provider, maxScratch)
	c.usage = emptied(c.usage, maxScratch)
	c.reset(Call{}, Shape{}, c.stream)
}

// repair makes the object in the event what the client must get. It returns false for a chunk that
// holds nothing for a client. It keeps what the summary needs.
func (c *chat) repair(e *Event) (bool, *apierror.Error) {
	members, err := e.Members()
	c.event, c.work = e, e.work
	if err != nil {
		return false, c.call.Broken("answered what is not JSON").WithCause(err)
	}
	p := &c.patches[AtTop]
	p.Reset(e.Data, members)
	t, bad := readTop(c, p, members)
	if bad != nil {
		return false, bad
	}
	if t.usage >= 0 {
		c.useUsage(p, t.usage, members[t.usage].Value(e.Data))
	}
	if t.choices < 0 || members[t.choices].Kind != '[' {
		return false, nil
	}
	list := members[t.choices]
	c.spans[0] = jsonscan.Elements(list.Value(e.Data), c.spans[0][:0])
	if len(c.spans[0]) == 0 {
		return false, nil
	}
	if bad := c.editChoices(list.ValueStart); bad != nil {
		return false, bad
	}
	c.head.edit(p, e.Data, members, t, &c.call, &c.sum)
	if !c.stream {
		complete(c, p, e.Data, members)
	}
	c.edits.add(p, 0)
	c.note(members, t)
	return true, nil
}

// complete adds the members that a whole result must have.
func complete(c *chat, p *jsonscan.Patch, data []byte, members []jsonscan.Member) {
	for _, key := range c.shape.Present {
		if _, ok := jsonscan.Find(data, members, key); !ok {
			p.Add(key, jsonNull)
		}
	}
	if c.shape.Metadata != nil {
		put(p, data, members, MetadataKey, c.shape.Metadata())
	}
}

// note fills in what a translation, and the next chunk, need to know of this one.
func (c *chat) note(members []jsonscan.Member, t topMembers) {
	data, chunk := c.event.Data, &c.chunk
	created := c.head.created
	if len(chunk.Choices) != 1 {
		c.text = textSpan{}
	}
	c.vars = [Variables]Variable{VarText: {Start: c.text.start, End: c.text.end}}
	if t.created >= 0 {
		m := members[t.created]
		if isDigits(m.Value(data)) {
			created = m.Value(data)
		}
		if isTime(m.Value(data)) {
			c.vars[VarNumber] = Variable{Start: m.ValueStart, End: m.ValueEnd}
		}
	}
	if t.padding >= 0 {
		m := members[t.padding]
		c.vars[VarPadding] = Variable{Start: m.ValueStart, End: m.ValueEnd}
	}
	chunk.TextAt = c.text.start
	chunk.Created, _ = jsonscan.Int(created)
	if t.tier >= 0 {
		chunk.ServiceTier = members[t.tier].Value(data)
	}
}

// useUsage reads usage, and takes it out of a chunk: it is shown once at the end of a stream, or
// not at all.
func (c *chat) useUsage(p *jsonscan.Patch, i int, value []byte) {
	if c.stream {
		if c.holdUsage(value) {
			p.Set(i, jsonNull)
		} else {
			p.Drop(i)
		}
		return
	}
	u, ok := c.readUsage(value)
	switch {
	case c.shape.Usage == nil:
	case ok:
		c.usage = c.shape.Usage(c.usage[:0], value, u)
		p.Set(i, c.usage)
	default:
		p.Drop(i)
	}
}

// holdUsage reads the usage of a chunk and keeps it for the end. It reports whether the chunk must
// have null in its place, as all but the last have for a client of the OpenAI API that asked for
// usage.
func (c *chat) holdUsage(value []byte) (null bool) {
	null = c.call.IncludeUsage && c.shape.Usage == nil
	if _, ok := c.readUsage(value); ok && len(value) <= maxHeldUsage && (null || c.shape.Usage != nil) {
		c.usage = append(c.usage[:0], value...)
	}
	return null
}

func (c *chat) readUsage(value []byte) (u Usage, ok bool) {
	if u, ok = ParseUsage(value); ok {
		c.sum.Usage, c.sum.HasUsage, c.sum.Later = u, true, 0
	}
	return u, ok
}

// choiceUsage reads the usage that some providers give in a choice of a stream's last chunk (Moonshot), and
// shows it where the API has it.
func (c *chat) choiceUsage(p *jsonscan.Patch, i int, value []byte) {
	switch {
	case c.stream:
		c.holdUsage(value)
		p.Drop(i)
	case !c.sum.HasUsage:
		c.readUsage(value)
	}
}
