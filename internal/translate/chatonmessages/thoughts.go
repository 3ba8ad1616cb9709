package chatonmessages

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// format names the form of reasoning_details with Anthropic's signatures, as OpenRouter has it.
const format = "anthropic-claude-v1"

// thought is one block of thoughts in reasoning_details. Its pieces in a stream may be elements of
// their own: they have the same index, and the last has the signature.
type thought struct {
	index     []byte // as written, nil for none
	id        string // whose thoughts they are
	text      []byte // JSON without quotes
	signature []byte // quoted
	data      []byte // quoted, of thoughts that are encrypted
}

// thoughts adds the thoughts of a message that are from this very model: the provider refuses
// changed ones, and those of others. They come first in their turn.
func (c *conversation) thoughts(o translate.Object) error {
	var last thought
	err := o.Each("reasoning_details", translate.MaxParts, func(_ int, detail translate.Object) error {
		next, err := readThought(detail)
		if err != nil || next.signature == nil && next.data == nil && len(next.text) == 0 {
			return err
		}
		if next.data == nil && last.data == nil && last.signature == nil && next.index != nil && bytes.Equal(next.index, last.index) {
			last.text = append(last.text, next.text...)
			last.signature = next.signature
			if last.id == "" {
				last.id = next.id
			}
			return nil
		}
		c.putThought(&last)
		last = next
		return nil
	})
	c.putThought(&last)
	return err
}

// readThought reads an element of reasoning_details. It is empty for one that is not Anthropic's.
func readThought(detail translate.Object) (d thought, err error) {
	var kind, from string
	for _, m := range [...]struct {
		key string
		to  *string
	}{{"type", &kind}, {"format", &from}, {"id", &d.id}} {
		if *m.to, err = detail.DecodedText(m.key); err != nil {
			return thought{}, err
		}
	}
	if from != "" && from != format {
		return thought{}, nil
	}
	d.index = detail.Get("index")
	switch kind {
	case "reasoning.text":
		text, err := detail.Text("text")
		if err != nil {
			return thought{}, err
		}
		inner, _ := translate.Unquoted(text)
		d.text = bytes.Clone(inner)
		signature, err := detail.Text("signature")
		if _, ok := translate.Unquoted(signature); ok {
			d.signature = signature
		}
		return d, err
	case "reasoning.encrypted":
		data, err := detail.Text("data")
		if _, ok := translate.Unquoted(data); ok {
			d.data = data
		}
		return d, err
	}
	return thought{}, nil
}

// putThought writes a block of thoughts, unless it is of another model or was not signed.
func (c *conversation) putThought(d *thought) {
	if d.signature == nil && d.data == nil || d.id != c.origin {
		return
	}
	w := &c.turns
	w.solid++
	w.blocks = translate.AppendComma(w.blocks)
	if d.data != nil {
		w.blocks = append(w.blocks, `{"type":"redacted_thinking"`...)
		w.blocks = append(translate.AppendMember(w.blocks, "data", d.data), '}')
		return
	}
	w.blocks = append(w.blocks, `{"type":"thinking"`...)
	w.blocks = translate.AppendTextMember(w.blocks, "thinking", d.text)
	w.blocks = append(translate.AppendMember(w.blocks, "signature", d.signature), '}')
}
