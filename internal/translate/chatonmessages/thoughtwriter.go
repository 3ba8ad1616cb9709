package chatonmessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// thoughtWriter writes thoughts as reasoning, and as the reasoning_details by which the provider
// takes them back. A stream has an element of these for each piece, and a whole answer one for each
// block. An empty line separates the texts of blocks where nothing else does.
type thoughtWriter struct {
	to       completion.Writer
	original *Original
	blocks   int // how many blocks began
	whole    bool
	some     bool // some text was written

	n        int    // which block waits for its signature, in a whole answer
	unsigned []byte // its text, JSON without quotes
	scratch  []byte // what is being written
}

// piece writes a piece of block n of thoughts, which count from 0; first is its first piece.
func (w *thoughtWriter) piece(n int, first bool, piece []byte) {
	var detail []byte
	if w.whole {
		if first {
			w.end()
		}
		w.n, w.unsigned = n, append(w.unsigned, piece...)
	} else {
		detail = w.detail(n, first, piece, nil)
	}
	if first && (w.whole && w.some || !w.whole && n > 0) {
		at := len(w.scratch)
		w.scratch = append(append(w.scratch, `\n\n`...), piece...)
		piece = w.scratch[at:]
	}
	w.some = true
	w.write(piece, detail)
}

// signature writes the signature behind the thoughts; first says that they have no text.
func (w *thoughtWriter) signature(n int, first bool, signature []byte) {
	var text []byte
	if w.whole && first {
		w.end()
	}
	if w.whole || first {
		text = append([]byte{}, w.unsigned...) // not nil
	}
	w.unsigned = w.unsigned[:0]
	w.write(nil, w.detail(n, first || w.whole, text, signature))
}

// redacted writes thoughts that are encrypted.
func (w *thoughtWriter) redacted(n int, data []byte) {
	w.end()
	w.scratch = translate.AppendMember(append(w.scratch[:0], `{"type":"reasoning.encrypted"`...), "data", data)
	w.write(nil, w.endDetail(n, true))
}

// end writes the thoughts of a whole answer that were not signed.
func (w *thoughtWriter) end() {
	if len(w.unsigned) > 0 {
		w.write(nil, w.detail(w.n, true, w.unsigned, nil))
		w.unsigned = w.unsigned[:0]
	}
}

// detail returns an element of reasoning_details: a text without quotes, nil for none, and its
// quoted signature, nil for none.
func (w *thoughtWriter) detail(n int, first bool, text, signature []byte) []byte {
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
func (w *thoughtWriter) endDetail(n int, first bool) []byte {
	if first {
		w.scratch = translate.AppendMember(w.scratch, "id", jsonscan.AppendString(nil, w.original.origin))
	}
	w.scratch = translate.AppendTextMember(w.scratch, "format", []byte(format))
	w.scratch = append(translate.AppendIntMember(w.scratch, "index", int64(n)), '}')
	return w.scratch
}

// write writes a piece and an element, and releases the buffer of a long one.
func (w *thoughtWriter) write(piece, detail []byte) {
	w.to.Reasoning(piece, detail)
	if cap(w.scratch) > translate.MaxScratch {
		w.scratch = nil
	}
}
