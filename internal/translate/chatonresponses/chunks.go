package chatonresponses

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// chunkWriter writes the deltas of a chat stream and gives them to the family's own stream.
type chunkWriter struct {
	family openai.DeltaStream
	out    []byte // what the client gets

	named       bool
	id, created []byte           // of all chunks, nil if the provider gave none
	scratch     []byte           // the value that is being sent
	delta       openai.Delta     // that is being sent
	call        openai.CallDelta // its tool call
}

var (
	_ answerWriter = (*chunkWriter)(nil)
	_ answerWriter = (*messageWriter)(nil)
)

// setHead sets the id and the time of all chunks, once. The family's stream adds what is missing.
func (w *chunkWriter) setHead(id, created []byte) {
	if !w.named {
		w.named, w.id, w.created = true, bytes.Clone(id), bytes.Clone(created)
	}
}

// send sends a chunk.
func (w *chunkWriter) send(d openai.Delta) {
	w.setHead(nil, nil)
	w.delta = d
	w.delta.ID, w.delta.Created = w.id, w.created
	w.out = w.family.Write(w.out, &w.delta)
	w.delta, w.call = openai.Delta{}, openai.CallDelta{}
}

// quoted returns a piece of text in quotes, until the next.
func (w *chunkWriter) quoted(piece []byte) []byte {
	w.scratch = append(append(append(w.scratch[:0], '"'), piece...), '"')
	return w.scratch
}

func (w *chunkWriter) begin(text bool) {
	d := openai.Delta{Role: true, Content: []byte("null"), Refusal: []byte("null")}
	if text {
		d.Content = []byte(`""`)
	}
	w.send(d)
}

func (w *chunkWriter) text(piece, logprobs []byte) {
	d := openai.Delta{Content: w.quoted(piece)}
	if len(logprobs) > 0 {
		d.Logprobs = appendLogprobs(nil, logprobs)
	}
	w.send(d)
}

func (w *chunkWriter) refusal(piece []byte) { w.send(openai.Delta{Refusal: w.quoted(piece)}) }

func (w *chunkWriter) reasoning(piece []byte) { w.send(openai.Delta{Reasoning: w.quoted(piece)}) }

func (w *chunkWriter) citation(annotation []byte) {
	w.scratch = append(append(append(w.scratch[:0], '['), annotation...), ']')
	w.send(openai.Delta{Annotations: w.scratch})
}

func (w *chunkWriter) beginCall(n int, custom bool, id, name []byte) {
	w.call = openai.CallDelta{Index: n, Custom: custom, Begin: true, ID: id, Name: name, Arguments: []byte(`""`)}
	w.send(openai.Delta{Call: &w.call})
}

func (w *chunkWriter) arguments(n int, custom bool, piece []byte) {
	w.call = openai.CallDelta{Index: n, Custom: custom, Arguments: w.quoted(piece)}
	w.send(openai.Delta{Call: &w.call})
}

// finish sends the chunk that ends the choice and the stream. The family's stream shows its usage
// where it belongs.
func (w *chunkWriter) finish(e ending) {
	d := openai.Delta{Finish: e.finish, StopSequence: e.stop, ServiceTier: e.tier}
	if e.hasUsage {
		d.Usage = translate.AppendUsage(nil, e.usage)
	}
	w.send(d)
}

// trim releases the buffer of a long delta.
func (w *chunkWriter) trim() {
	if cap(w.scratch) > translate.MaxScratch {
		w.scratch = nil
	}
}
