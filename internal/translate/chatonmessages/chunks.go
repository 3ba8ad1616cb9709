package chatonmessages

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// chunkWriter writes the deltas of a chat stream and gives them to the family's own stream.
type chunkWriter struct {
	original *Original
	family   openai.DeltaStream
	out      []byte // what the client gets

	id               []byte           // of all chunks, nil if the provider gave none
	scratch, details []byte           // values that are being sent
	delta            openai.Delta     // that is being sent
	call             openai.CallDelta // its tool call
}

var (
	_ answerWriter = (*chunkWriter)(nil)
	_ answerWriter = (*messageWriter)(nil)
)

// send sends the delta.
func (w *chunkWriter) send() {
	d := &w.delta
	d.ID = w.id
	w.out = w.family.Write(w.out, d)
	d.Role, d.Content, d.Refusal, d.Annotations, d.Call, d.Reasoning, d.ReasoningDetails = false, nil, nil, nil, nil, nil, nil
}

// quoted returns a piece of text in quotes, until the next.
func (w *chunkWriter) quoted(piece []byte) []byte {
	w.scratch = append(append(append(w.scratch[:0], '"'), piece...), '"')
	return w.scratch
}

var (
	jsonNull  = []byte("null")
	emptyText = []byte(`""`)
)

func (w *chunkWriter) begin(text bool) {
	w.delta.Role, w.delta.Content, w.delta.Refusal = true, jsonNull, jsonNull
	if text {
		w.delta.Content = emptyText
	}
	w.send()
}

func (w *chunkWriter) text(piece []byte) {
	w.delta.Content = w.quoted(piece)
	w.send()
}

func (w *chunkWriter) refusal(text []byte) {
	w.delta.Refusal = w.quoted(text)
	w.send()
}

// thought sends a piece in both forms. An empty line separates blocks where nothing else does.
func (w *chunkWriter) thought(n int, first bool, piece []byte) {
	quoted := w.quoted(piece)
	w.detail(n, first, quoted, nil, nil)
	if first && n > 0 {
		w.scratch = append(w.scratch[:0], `"\n\n`...)
		quoted = append(append(w.scratch, piece...), '"')
		w.scratch = quoted
	}
	w.delta.Reasoning = quoted
	w.send()
}

func (w *chunkWriter) signature(n int, first bool, signature []byte) {
	var text []byte
	if first {
		text = emptyText
	}
	w.detail(n, first, text, signature, nil)
	w.send()
}

func (w *chunkWriter) redacted(n int, data []byte) {
	w.detail(n, true, nil, nil, data)
	w.send()
}

// detail sets reasoning_details of the delta.
func (w *chunkWriter) detail(n int, first bool, text, signature, data []byte) {
	w.details = w.original.appendThought(append(w.details[:0], '['), n, first, text, signature, data)
	w.details = append(w.details, ']')
	w.delta.ReasoningDetails = w.details
}

func (w *chunkWriter) citation(annotation []byte) {
	w.scratch = append(append(append(w.scratch[:0], '['), annotation...), ']')
	w.delta.Annotations = w.scratch
	w.send()
}

func (w *chunkWriter) beginCall(n int, id, name []byte) {
	w.call = openai.CallDelta{Index: n, Begin: true, ID: id, Name: name, Arguments: emptyText}
	w.delta.Call = &w.call
	w.send()
}

func (w *chunkWriter) arguments(n int, piece []byte) {
	w.call = openai.CallDelta{Index: n, Arguments: w.quoted(piece)}
	w.delta.Call = &w.call
	w.send()
}

// finish sends the chunk that ends the choice and the stream. The family's stream shows its usage
// where it belongs.
func (w *chunkWriter) finish(reason string, sum *openai.Summary) {
	w.delta.Finish = reason
	if sum.HasUsage {
		w.delta.Usage = translate.AppendUsage(nil, sum.Usage)
	}
	w.send()
}

// setID sets the id of all chunks, once. The family's stream adds one that is missing.
func (w *chunkWriter) setID(id []byte) {
	if _, ok := translate.Unquoted(id); ok && w.id == nil && len(id) <= maxID {
		w.id = bytes.Clone(id)
	}
}

// trim releases the buffers of a long delta.
func (w *chunkWriter) trim() {
	for _, b := range []*[]byte{&w.scratch, &w.details} {
		if cap(*b) > translate.MaxScratch {
			*b = nil
		}
	}
}
