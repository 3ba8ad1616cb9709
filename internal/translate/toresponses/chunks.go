package toresponses

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// chunkWriter writes the deltas of a chat stream and gives them to the family's own stream.
type chunkWriter struct {
	call   *openai.Call
	family openai.DeltaStream
	out    []byte // what the client gets

	named       bool
	id, created []byte       // of all chunks, nil if the provider gave none
	members     []byte       // of the delta that is being written
	delta       openai.Delta // that is being sent
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

// send sends a chunk with the members that were written.
func (w *chunkWriter) send(d openai.Delta) {
	w.setHead(nil, nil)
	w.delta = d
	w.delta.ID, w.delta.Created, w.delta.Members = w.id, w.created, w.members
	w.out = w.family.Write(w.out, &w.delta)
	w.delta, w.members = openai.Delta{}, w.members[:0]
}

func (w *chunkWriter) begin(text bool) {
	w.members = appendTextOrNull(w.members, "content", nil, text)
	w.members = append(w.members, `,"refusal":null`...)
	w.send(openai.Delta{Role: true})
}

func (w *chunkWriter) text(piece, logprobs []byte) {
	w.members = translate.AppendTextMember(w.members, "content", piece)
	d := openai.Delta{HasText: len(piece) > 0}
	if len(logprobs) > 0 {
		d.Logprobs = appendLogprobs(nil, logprobs)
	}
	w.send(d)
}

func (w *chunkWriter) refusal(piece []byte) {
	w.members = translate.AppendTextMember(w.members, "refusal", piece)
	w.send(openai.Delta{})
}

func (w *chunkWriter) reasoning(piece []byte) {
	w.members = append(append(append(w.members, '"'), piece...), '"')
	reasoning := w.members
	w.members = w.members[:0]
	w.send(openai.Delta{Reasoning: reasoning})
}

func (w *chunkWriter) citation(annotation []byte) {
	w.members = append(w.members, `"annotations":[`...)
	w.members = append(w.members, annotation...)
	w.members = append(w.members, ']')
	w.send(openai.Delta{})
}

func (w *chunkWriter) beginCall(n int, custom bool, id, name []byte) {
	w.openCall(n)
	w.members = appendCall(w.members, custom, id, name, nil)
	if id == nil {
		w.members = translate.AppendMember(w.members, "id", openai.NewCallID(w.call, n))
	}
	w.members = append(w.members, "}]"...)
	w.send(openai.Delta{HasText: true, BeginCall: true})
}

func (w *chunkWriter) arguments(n int, custom bool, piece []byte) {
	w.openCall(n)
	if custom {
		w.members = append(w.members, `,"custom":{`...)
		w.members = translate.AppendTextMember(w.members, "input", piece)
	} else {
		w.members = append(w.members, `,"function":{`...)
		w.members = translate.AppendTextMember(w.members, "arguments", piece)
	}
	w.members = append(w.members, "}}]"...)
	w.send(openai.Delta{HasText: true})
}

// openCall begins the member with a tool call.
func (w *chunkWriter) openCall(n int) {
	w.members = append(w.members, `"tool_calls":[{`...)
	w.members = translate.AppendIntMember(w.members, "index", int64(n))
}

// finish sends the chunk that ends the choice and the stream. The family's stream shows its usage
// where it belongs.
func (w *chunkWriter) finish(e ending) {
	d := openai.Delta{Finish: e.finish, ServiceTier: e.tier}
	if e.hasUsage {
		d.Usage = appendUsage(nil, e.usage)
	}
	w.send(d)
}

// trim releases the buffer of a long delta.
func (w *chunkWriter) trim() {
	if cap(w.members) > translate.MaxScratch {
		w.members = nil
	}
}
