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
func (c *conversation) thoughts(o translate.Reader) {
	var last thought
	o.Each("reasoning_details", translate.MaxParts, func(_ int, detail translate.Reader) {
		next := readThought(detail)
		switch {
		case next.signature == nil && next.data == nil && len(next.text) == 0:
		case next.data == nil && last.data == nil && last.signature == nil && next.index != nil && bytes.Equal(next.index, last.index):
			last.text = append(last.text, next.text...)
			last.signature = next.signature
			if last.id == "" {
				last.id = next.id
			}
		default:
			c.putThought(&last)
			last = next
		}
	})
	c.putThought(&last)
}

// readThought reads an element of reasoning_details. It is empty for one that is not Anthropic's.
func readThought(detail translate.Reader) (d thought) {
	kind, from, id := detail.DecodedText("type"), detail.DecodedText("format"), detail.DecodedText("id")
	if from != "" && from != format {
		return thought{}
	}
	d.index, d.id = detail.Get("index"), id
	switch kind {
	case "reasoning.text":
		inner, _ := translate.Unquoted(detail.Text("text"))
		d.text, d.signature = bytes.Clone(inner), someText(detail, "signature")
	case "reasoning.encrypted":
		d.data = someText(detail, "data")
	}
	return d
}

// someText returns a quoted text, nil if it is empty.
func someText(o translate.Reader, key string) []byte {
	quoted := o.Text(key)
	if _, ok := translate.Unquoted(quoted); !ok {
		return nil
	}
	return quoted
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
