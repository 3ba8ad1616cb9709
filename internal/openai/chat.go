package openai

import (
	"github.com/gatehouse-proxy/gatehouse/internal/fault"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

const (
	// maxChoices is OpenAI's bound of `n`; each choice costs state.
	maxChoices = 128

	// maxHeldUsage bounds the usage object kept until a stream ends; real
	// ones are under 1 KiB.
	maxHeldUsage = 16 << 10

	// maxScratch is what a stream keeps of its buffers between two events, so
	// that one chunk of a megabyte is not paid for by a stream held for hours.
	maxScratch = 16 << 10
)

const (
	objectResult = `"chat.completion"`
	objectChunk  = `"chat.completion.chunk"`
)

var (
	jsonNull        = []byte("null")
	jsonEmptyObject = []byte("{}")
	jsonAssistant   = []byte(`"assistant"`)
)

// chat repairs the chat completion objects of one call, a whole one or the
// chunks of a stream.
type chat struct {
	call   Call
	shape  Shape
	stream bool

	object   []byte // quoted
	model    []byte // quoted, as asked
	id       []byte // quoted, the same in all chunks; nil before the first
	created  []byte // digits, of the first chunk; nil before it
	provider []byte // quoted, nil for none

	sum     Summary
	choices []choice // by index
	usage   []byte   // the last usage object, if it is to be shown

	// Scratch, one of each for a level, reused by every chunk.
	members [levels][]jsonscan.Member
	patches [levels]jsonscan.Patch
	bufs    [levels][]byte
	spans   [2][]jsonscan.Span
	splices [2]splice
	small   []byte // quoted words of the chunk in work
}

func newChat(call Call, shape Shape, stream bool) *chat {
	c := &chat{call: call, shape: shape, stream: stream}
	c.object = []byte(objectResult)
	if stream {
		c.object = []byte(objectChunk)
	}
	c.model = jsonscan.AppendString(nil, call.Model)
	if shape.FixedID != "" {
		c.id = jsonscan.AppendString(nil, shape.FixedID)
	}
	if shape.Provider != "" {
		c.provider = jsonscan.AppendString(nil, shape.Provider)
	}
	return c
}

// patch begins an edit at a level.
func (c *chat) patch(at Level, object []byte) (*jsonscan.Patch, []jsonscan.Member) {
	c.members[at] = jsonscan.Members(object, c.members[at][:0])
	c.patches[at] = *jsonscan.NewPatch(object, c.members[at])
	return &c.patches[at], c.members[at]
}

// one keeps the last of a repeated member: at is the index of the one before,
// -1 for none.
func one(p *jsonscan.Patch, at *int, i int) {
	if *at >= 0 {
		p.Drop(*at)
	}
	*at = i
}

// top are the places of the members of a chunk or result that matter.
type top struct {
	id, object, created, model, choices, usage, provider int
}

// repair appends data as the client must get it. It reports false, and
// appends nothing, for a chunk that holds nothing for a client. It keeps what
// the summary needs.
func (c *chat) repair(dst, data []byte) ([]byte, bool, *fault.Error) {
	var err error
	c.members[AtTop], err = jsonscan.Lenient(data, c.members[AtTop][:0])
	if err != nil {
		return dst, false, c.call.broken("answered what is not JSON").WithCause(err)
	}
	members := c.members[AtTop]
	c.patches[AtTop] = *jsonscan.NewPatch(data, members)
	p := &c.patches[AtTop]
	c.small = c.small[:0]

	t := top{-1, -1, -1, -1, -1, -1, -1}
	for i, m := range members {
		switch key := keyOf(data, m); string(key) {
		case "id":
			one(p, &t.id, i)
		case "object":
			one(p, &t.object, i)
		case "created":
			one(p, &t.created, i)
		case "model":
			one(p, &t.model, i)
		case "choices":
			one(p, &t.choices, i)
		case "usage":
			one(p, &t.usage, i)
		case "provider":
			one(p, &t.provider, i)
		case "error":
			if truthy(m.Value(data)) {
				return dst, false, c.failed(data)
			}
			p.Drop(i) // openai-go ends a stream at the mere key
		default:
			if m.Kind == 'n' && c.shape.notNull(AtTop, key) {
				p.Drop(i)
			}
		}
	}
	if i := t.object; i >= 0 && string(members[i].Value(data)) == `"error"` { // vLLM
		return dst, false, c.failed(data)
	}
	if t.usage >= 0 {
		c.useUsage(p, t.usage, members[t.usage].Value(data))
	}
	if t.choices < 0 || members[t.choices].Kind != '[' {
		return dst, false, nil
	}
	list := members[t.choices].Value(data)
	c.spans[0] = jsonscan.Elements(list, c.spans[0][:0])
	if len(c.spans[0]) == 0 {
		return dst, false, nil
	}
	edited, bad := c.editChoices(list)
	if bad != nil {
		return dst, false, bad
	}
	if c.splices[0].changed {
		p.Set(t.choices, edited)
	}
	c.setHead(p, t, data)
	if !c.stream {
		for _, key := range c.shape.Present {
			if _, ok := jsonscan.Find(data, members, key); !ok {
				p.Add(key, jsonNull)
			}
		}
	}
	return p.Append(dst), true, nil
}

// useUsage reads usage, and takes it out of a stream's chunk: it is shown once
// at the end, or not at all.
func (c *chat) useUsage(p *jsonscan.Patch, i int, value []byte) {
	u, ok := ParseUsage(value)
	if ok {
		c.sum.Usage, c.sum.HasUsage = u, true
	}
	if !c.stream {
		switch {
		case c.shape.Usage == nil:
		case ok:
			c.usage = c.shape.Usage(c.usage[:0], value, u)
			p.Set(i, c.usage)
		default:
			p.Drop(i)
		}
		return
	}
	asOpenAI := c.call.IncludeUsage && c.shape.Usage == nil
	if ok && len(value) <= maxHeldUsage && (asOpenAI || c.shape.Usage != nil) {
		c.usage = append(c.usage[:0], value...)
	}
	if asOpenAI {
		p.Set(i, jsonNull) // in every chunk but the last
	} else {
		p.Drop(i)
	}
}

// failed is the caller's form of a provider's error in an answer.
func (c *chat) failed(data []byte) *fault.Error {
	pe := ParseProviderError(data)
	return Fault(pe.streamStatus(), 0, pe, c.call.Redact, c.call.Provider)
}
