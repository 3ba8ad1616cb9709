package completion

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Chunks writes the deltas of a chat stream and gives them to the family's own stream.
type Chunks struct {
	family openai.DeltaStream
	out    []byte // what the client gets

	begun       bool
	named       bool             // what follows is set
	id, created []byte           // of all chunks, nil if the provider gave none
	scratch     []byte           // the values that are being sent
	delta       openai.Delta     // that is being sent
	call        openai.CallDelta // its tool call

	// Alike says that chunks of text differ in their text only, as those of chat completions do. Then
	// they are copies of the first, whose ends are kept.
	Alike         bool
	before, after []byte
}

var _ Writer = (*Chunks)(nil)

// Named reports whether SetHead was called, or a chunk was sent without.
func (c *Chunks) Named() bool { return c.named }

// SetHead sets the id and the time of all chunks. The family's stream adds what is missing.
func (c *Chunks) SetHead(id, created []byte) {
	c.named, c.id, c.created = true, bytes.Clone(id), bytes.Clone(created)
}

var (
	jsonNull  = []byte("null")
	emptyText = []byte(`""`)
)

// send sends the delta.
func (c *Chunks) send() {
	c.named = true
	d := &c.delta
	d.ID, d.Created = c.id, c.created
	c.out = c.family.Write(c.out, d)
	d.Role, d.Content, d.Refusal, d.Annotations, d.Call = false, nil, nil, nil, nil
	d.Reasoning, d.ReasoningDetails, d.Logprobs, d.Images = nil, nil, nil, nil
}

// wrapped returns a value between two characters, until the next.
func (c *Chunks) wrapped(begin byte, value []byte, end byte) []byte {
	c.scratch = append(append(append(c.scratch[:0], begin), value...), end)
	return c.scratch
}

func (c *Chunks) quoted(piece []byte) []byte { return c.wrapped('"', piece, '"') }

// Begin implements [Writer].
func (c *Chunks) Begin(text bool) {
	if c.begun {
		return
	}
	c.begun = true
	c.delta.Role, c.delta.Content, c.delta.Refusal = true, jsonNull, jsonNull
	if text {
		c.delta.Content = emptyText
	}
	c.send()
}

// Text implements [Writer].
func (c *Chunks) Text(piece, logprobs []byte) {
	if len(logprobs) == 0 && c.after != nil {
		c.out = append(append(append(c.out, c.before...), piece...), c.after...)
		return
	}
	start := len(c.out)
	c.delta.Content = c.quoted(piece)
	if len(logprobs) > 0 {
		c.delta.Logprobs = appendLogprobs(nil, logprobs)
	}
	c.send()
	const key = `"content":"`
	if at := bytes.Index(c.out[start:], []byte(key)); c.Alike && len(logprobs) == 0 && at >= 0 {
		at += start + len(key)
		c.before, c.after = bytes.Clone(c.out[start:at]), bytes.Clone(c.out[at+len(piece):])
	}
}

// Refusal implements [Writer].
func (c *Chunks) Refusal(piece []byte) {
	c.delta.Refusal = c.quoted(piece)
	c.send()
}

// Reasoning implements [Writer].
func (c *Chunks) Reasoning(piece, details []byte) {
	b, n := c.scratch[:0], 0
	if piece != nil {
		b = append(append(append(b, '"'), piece...), '"')
		n = len(b)
		c.delta.Reasoning = b
	}
	if details != nil {
		b = append(append(append(b, '['), details...), ']')
		c.delta.ReasoningDetails = b[n:]
	}
	c.scratch = b
	c.send()
}

// Citation implements [Writer].
func (c *Chunks) Citation(annotation []byte) {
	c.delta.Annotations = c.wrapped('[', annotation, ']')
	c.send()
}

// Image sends an image by the URL with its data, JSON without quotes.
func (c *Chunks) Image(url []byte) {
	c.scratch = append(appendImage(append(c.scratch[:0], '['), url), ']')
	c.delta.Images = c.scratch
	c.send()
}

// BeginCall implements [Writer].
func (c *Chunks) BeginCall(n int, custom bool, id, name []byte) {
	c.call = openai.CallDelta{Index: n, Custom: custom, Begin: true, ID: id, Name: name, Arguments: emptyText}
	c.delta.Call = &c.call
	c.send()
}

// Arguments implements [Writer].
func (c *Chunks) Arguments(n int, custom bool, piece []byte) {
	c.call = openai.CallDelta{Index: n, Custom: custom, Arguments: c.quoted(piece)}
	c.delta.Call = &c.call
	c.send()
}

// Call sends call n of a function as a whole. Extra is the object extra_content, nil for none.
func (c *Chunks) Call(n int, id, name, arguments, extra []byte) {
	c.call = openai.CallDelta{Index: n, Begin: true, ID: id, Name: name, Arguments: c.quoted(arguments), Extra: extra}
	c.delta.Call = &c.call
	c.send()
}

// Finish sends the chunk that ends the choice and the stream. The family's stream shows its usage
// where it belongs.
func (c *Chunks) Finish(e Ending) {
	d := &c.delta
	d.Finish, d.StopSequence, d.ServiceTier, d.Usage = e.Finish, e.Stop, e.Tier, e.usage()
	c.send()
}
