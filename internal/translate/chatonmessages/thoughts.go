package chatonmessages

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// putThought writes a block of thoughts. They come first in their turn.
func (c *conversation) putThought(d *translate.Thought) {
	w := &c.turns
	w.solid++
	w.blocks = translate.AppendComma(w.blocks)
	if d.Data != nil {
		w.blocks = append(w.blocks, `{"type":"redacted_thinking"`...)
		w.blocks = append(translate.AppendMember(w.blocks, "data", d.Data), '}')
		return
	}
	w.blocks = append(w.blocks, `{"type":"thinking"`...)
	w.blocks = translate.AppendTextMember(w.blocks, "thinking", d.Text)
	w.blocks = append(translate.AppendMember(w.blocks, "signature", d.Signature), '}')
}
