package completion

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
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

	// Alike says that chunks of text differ in their text only, as those of chat completions do.
	// Then they are copies of the first, whose ends are kept.
	Alike         bool
	before, after []byte
}

var _ translate.Content = (*Chunks)(nil)

// setHead sets the id and the time of all chunks. The family's stream adds what is missing.
func (c *Chunks) setHead(id, created []byte) {
	if !c.named {
		c.named, c.id, c.created = true, bytes.Clone(id), bytes.Clone(created)
	}
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

// quoted returns a piece with its quotes, until the next.
func (c *Chunks) quoted(piece []byte) []byte {
	c.scratch = append(append(append(c.scratch[:0], '"'), piece...), '"')
	return c.scratch
}

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
	if c.Alike && len(logprobs) == 0 {
		c.learn(c.out[start:], piece)
	}
}

// learn keeps the ends of a chunk with a piece of text.
func (c *Chunks) learn(chunk, piece []byte) {
	const key = `"content":"`
	if at := bytes.Index(chunk, []byte(key)); at >= 0 {
		at += len(key)
		c.before, c.after = bytes.Clone(chunk[:at]), bytes.Clone(chunk[at+len(piece):])
	}
}

func (c *Chunks) Refusal(piece []byte) {
	c.delta.Refusal = c.quoted(piece)
	c.send()
}

func (c *Chunks) Reasoning(piece, detail []byte) {
	b, n := c.scratch[:0], 0
	if piece != nil {
		b = append(append(append(b, '"'), piece...), '"')
		n = len(b)
		c.delta.Reasoning = b
	}
	if detail != nil {
		b = append(append(append(b, '['), detail...), ']')
		c.delta.ReasoningDetails = b[n:]
	}
	c.scratch = b
	c.send()
}

func (c *Chunks) Citation(citation translate.Citation) {
	c.scratch = append(appendCitation(append(c.scratch[:0], '['), citation), ']')
	c.delta.Annotations = c.scratch
	c.send()
}

// Image sends an image by the URL with its data, JSON without quotes.
func (c *Chunks) Image(url []byte) {
	c.scratch = append(appendImage(append(c.scratch[:0], '['), url), ']')
	c.delta.Images = c.scratch
	c.send()
}

func (c *Chunks) BeginCall(n int, custom bool, id, name []byte) {
	c.call = openai.CallDelta{Index: n, Custom: custom, Begin: true, ID: id, Name: name, Arguments: emptyText}
	c.delta.Call = &c.call
	c.send()
}

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

// finish sends the chunk that ends the choice and the stream. The family's stream shows its usage
// where it belongs.
func (c *Chunks) finish(e Ending) {
	e.Put(&c.delta)
	c.send()
}
