package completion

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// Thoughts writes the thoughts of a Claude as reasoning, and as the reasoning_details by which the
// provider takes them back. A stream has an element of these for each piece, and a whole answer one
// for each block. An empty line separates the texts of blocks where nothing else does.
type Thoughts struct {
	to       translate.Content
	origin   []byte // whose thoughts they are, quoted
	blocks   int    // how many began
	whole    bool
	some     bool   // some text was written
	n        int    // which block waits for its signature, in a whole answer
	unsigned []byte // its text, JSON without quotes
	scratch  []byte // what is being written
}

// NewThoughts returns what writes the thoughts of an origin, a provider and its model, which is
// quoted.
func NewThoughts(to translate.Content, origin []byte, whole bool) Thoughts {
	return Thoughts{to: to, origin: origin, whole: whole}
}

// Begin returns the number of the next block of thoughts.
func (w *Thoughts) Begin() int {
	w.blocks++
	return w.blocks - 1
}

// Piece writes a piece of block n of thoughts, which count from 0; first is its first piece.
func (w *Thoughts) Piece(n int, first bool, piece []byte) {
	var detail []byte
	if w.whole {
		if first {
			w.End()
		}
		w.n, w.unsigned = n, append(w.unsigned, piece...)
	} else {
		detail = w.detail(n, first, piece, nil)
	}
	if first && w.some {
		at := len(w.scratch)
		w.scratch = append(append(w.scratch, `\n\n`...), piece...)
		piece = w.scratch[at:]
	}
	w.some = true
	w.write(piece, detail)
}

// Signature writes the signature behind the thoughts; first says that they have no text.
func (w *Thoughts) Signature(n int, first bool, signature []byte) {
	var text []byte
	if w.whole && first {
		w.End()
	}
	if w.whole || first {
		text = append([]byte{}, w.unsigned...) // not nil
	}
	w.unsigned = w.unsigned[:0]
	w.write(nil, w.detail(n, first || w.whole, text, signature))
}

// Redacted writes thoughts that are encrypted.
func (w *Thoughts) Redacted(n int, data []byte) {
	w.End()
	w.scratch = translate.AppendMember(append(w.scratch[:0], `{"type":"reasoning.encrypted"`...), "data", data)
	w.write(nil, w.endDetail(n, true))
}

// End writes the thoughts of a whole answer that were not signed.
func (w *Thoughts) End() {
	if len(w.unsigned) > 0 {
		w.write(nil, w.detail(w.n, true, w.unsigned, nil))
		w.unsigned = w.unsigned[:0]
	}
}

// detail returns an element of reasoning_details: a text without quotes, nil for none, and its
// quoted signature, nil for none.
func (w *Thoughts) detail(n int, first bool, text, signature []byte) []byte {
	w.scratch = append(w.scratch[:0], `{"type":"reasoning.text"`...)
	if text != nil {
		w.scratch = translate.AppendTextMember(w.scratch, "text", text)
	}
	if signature != nil {
		w.scratch = translate.AppendMember(w.scratch, "signature", signature)
	}
	return w.endDetail(n, first)
}

// endDetail ends an element. The first piece of a block names whose thoughts they are; clients join
// the pieces by their index.
func (w *Thoughts) endDetail(n int, first bool) []byte {
	if first {
		w.scratch = translate.AppendMember(w.scratch, "id", w.origin)
	}
	w.scratch = translate.AppendTextMember(w.scratch, "format", []byte(translate.ClaudeThoughts))
	w.scratch = append(translate.AppendIntMember(w.scratch, "index", int64(n)), '}')
	return w.scratch
}

// write writes a piece and an element, and releases the buffer of a long one.
func (w *Thoughts) write(piece, detail []byte) {
	w.to.Reasoning(piece, detail)
	if cap(w.scratch) > translate.MaxScratch {
		w.scratch = nil
	}
}
