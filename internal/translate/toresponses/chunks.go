package toresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// chunkWriter writes the chunks of a chat stream and passes them to the family's own stream, as if
// a provider of chat completions had sent them.
//
//	{"id":…,"created":…,"object":"chat.completion.chunk","choices":[{"index":0,"delta":{
//	    "role" | "content" | "refusal" | "reasoning_content" | "annotations" | "tool_calls"
//	},"logprobs":…,"finish_reason":null}]}
type chunkWriter struct {
	family openai.Stream
	events openai.Events
	out    []byte // what the client gets

	head  []byte // the beginning of every chunk, up to the members of the delta
	chunk []byte // the chunk that is being written
}

var (
	_ answerWriter = (*chunkWriter)(nil)
	_ answerWriter = (*messageWriter)(nil)
)

// setHead sets what all chunks begin with, once. The family's stream adds an id or a time that is
// missing.
func (w *chunkWriter) setHead(id, created []byte) {
	if w.head != nil {
		return
	}
	w.head = append(w.head, '{')
	if id != nil {
		w.head = translate.AppendMember(w.head, "id", id)
	}
	if created != nil {
		w.head = translate.AppendMember(w.head, "created", created)
	}
	w.head = translate.AppendComma(w.head)
	w.head = append(w.head, `"object":"chat.completion.chunk","choices":[{"index":0,"delta":{`...)
}

// open begins a chunk.
func (w *chunkWriter) open() {
	w.setHead(nil, nil)
	w.chunk = append(w.chunk[:0], w.head...)
}

// send ends a chunk and passes it on.
func (w *chunkWriter) send(logprobs []byte) {
	w.chunk = appendLogprobs(append(w.chunk, '}'), logprobs)
	w.chunk = append(w.chunk, `,"finish_reason":null}]}`...)
	w.pass()
}

func (w *chunkWriter) pass() { w.out = w.family.Data(w.out, w.events.Next(nil, w.chunk)) }

// sendText sends a chunk of one member.
func (w *chunkWriter) sendText(key string, piece, logprobs []byte) {
	w.open()
	w.chunk = translate.AppendTextMember(w.chunk, key, piece)
	w.send(logprobs)
}

func (w *chunkWriter) begin(text bool) {
	w.open()
	w.chunk = append(w.chunk, `"role":"assistant"`...)
	w.chunk = appendTextOrNull(w.chunk, "content", nil, text)
	w.chunk = append(w.chunk, `,"refusal":null`...)
	w.send(nil)
}

func (w *chunkWriter) text(piece, logprobs []byte) { w.sendText("content", piece, logprobs) }
func (w *chunkWriter) refusal(piece []byte)        { w.sendText("refusal", piece, nil) }
func (w *chunkWriter) reasoning(piece []byte)      { w.sendText("reasoning_content", piece, nil) }

func (w *chunkWriter) citation(annotation []byte) {
	w.open()
	w.chunk = append(w.chunk, `"annotations":[`...)
	w.chunk = append(w.chunk, annotation...)
	w.chunk = append(w.chunk, ']')
	w.send(nil)
}

func (w *chunkWriter) beginCall(n int, custom bool, id, name []byte) {
	w.openCall(n)
	w.chunk = appendCall(w.chunk, custom, id, name, nil)
	w.chunk = append(w.chunk, "}]"...)
	w.send(nil)
}

func (w *chunkWriter) arguments(n int, custom bool, piece []byte) {
	w.openCall(n)
	if custom {
		w.chunk = append(w.chunk, `,"custom":{`...)
		w.chunk = translate.AppendTextMember(w.chunk, "input", piece)
	} else {
		w.chunk = append(w.chunk, `,"function":{`...)
		w.chunk = translate.AppendTextMember(w.chunk, "arguments", piece)
	}
	w.chunk = append(w.chunk, "}}]"...)
	w.send(nil)
}

// openCall begins a chunk for a tool call.
func (w *chunkWriter) openCall(n int) {
	w.open()
	w.chunk = append(w.chunk, `"tool_calls":[{`...)
	w.chunk = translate.AppendIntMember(w.chunk, "index", int64(n))
}

// finish sends the chunk that ends the choice, and the end of the stream. The chunk has the usage,
// which the family's stream moves to where it belongs.
func (w *chunkWriter) finish(e ending) {
	w.open()
	w.chunk = append(w.chunk, `},"logprobs":null`...)
	w.chunk = translate.AppendTextMember(w.chunk, "finish_reason", []byte(e.finish))
	w.chunk = append(w.chunk, "}]"...)
	w.chunk = append(e.append(w.chunk), '}')
	w.pass()
	w.out = w.family.Data(w.out, w.events.Next(nil, []byte("[DONE]")))
}

// trim releases the buffer of a long chunk.
func (w *chunkWriter) trim() {
	if cap(w.chunk) > translate.MaxScratch {
		w.chunk = nil
	}
}
