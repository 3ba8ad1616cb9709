package openai

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

const (
	// maxChoices is OpenAI's bound of `n`; each choice costs state.
	maxChoices = 128

	// maxHeldUsage bounds the usage object kept until a stream ends; real
	// ones are under 1 KiB.
	maxHeldUsage = 16 << 10
)

var (
	objectResult    = []byte(`"chat.completion"`)
	objectChunk     = []byte(`"chat.completion.chunk"`)
	jsonNull        = []byte("null")
	jsonEmptyObject = []byte("{}")
	jsonAssistant   = []byte(`"assistant"`)
)

// chat repairs the chat completion objects of one call, a whole one or the
// chunks of a stream. It holds little: a stream may be idle for hours, with
// thousands like it. What the work on one object needs is borrowed.
type chat struct {
	call   Call
	shape  Shape
	stream bool

	object   []byte // quoted
	model    []byte // quoted, as asked
	id       []byte // quoted, the same in all chunks; empty before the first
	created  []byte // digits, of the first chunk; empty before it
	provider []byte // quoted, empty for none

	sum     Summary
	choices []choice // by index
	usage   []byte   // the last usage object, if it is to be shown

	*scratch // nil between two objects
}

// reset makes c that of a call. It keeps nothing of the one before but room.
func (c *chat) reset(call Call, shape Shape, stream bool) {
	clear(c.choices)
	*c = chat{
		call: call, shape: shape, stream: stream, object: objectResult,
		model: jsonscan.AppendString(c.model[:0], call.Model), id: c.id[:0], created: c.created[:0],
		provider: c.provider[:0], choices: c.choices[:0], usage: c.usage[:0],
	}
	if stream {
		c.object = objectChunk
	}
	if shape.FixedID != "" {
		c.id = jsonscan.AppendString(c.id, shape.FixedID)
	}
	if shape.Provider != "" {
		c.provider = jsonscan.AppendString(c.provider, shape.Provider)
	}
}

// patch begins an edit at a level.
func (c *chat) patch(at Level, object []byte) (*jsonscan.Patch, []jsonscan.Member) {
	c.members[at] = jsonscan.Members(object, c.members[at][:0])
	c.patches[at].Reset(object, c.members[at])
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
	id, object, created, model, choices, usage, provider, obfuscation int
}

var nowhere = top{-1, -1, -1, -1, -1, -1, -1, -1}

// repair appends data as the client must get it. It reports false, and
// appends nothing, for a chunk that holds nothing for a client. It keeps what
// the summary needs.
func (c *chat) repair(dst, data []byte) ([]byte, bool, *apierror.Error) {
	var err error
	c.members[AtTop], err = jsonscan.Lenient(data, c.members[AtTop][:0])
	if err != nil {
		return dst, false, c.call.broken("answered what is not JSON").WithCause(err)
	}
	members := c.members[AtTop]
	p := &c.patches[AtTop]
	p.Reset(data, members)

	t := nowhere
	for i, m := range members {
		switch key := m.DecodedKey(data); string(key) {
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
			} else if m.Kind == '"' && string(key) == "obfuscation" {
				t.obfuscation = i
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
	if c.stream {
		c.findHoles(p, t, data)
	}
	return p.Append(dst), true, nil
}

// useUsage reads usage, and takes it out of a stream's chunk: it is shown once
// at the end, or not at all.
func (c *chat) useUsage(p *jsonscan.Patch, i int, value []byte) {
	u, ok := ParseUsage(value)
	if ok {
		c.sum.Usage, c.sum.HasUsage, c.sum.Later = u, true, 0
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
func (c *chat) failed(data []byte) *apierror.Error {
	pe := ParseProviderError(data)
	return Fault(pe.streamStatus(), 0, pe, c.call.Redact, c.call.Provider)
}
