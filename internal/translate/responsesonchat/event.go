package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// eventWriter writes the events of a response.
type eventWriter struct {
	on       bool // a whole answer has no events
	out      []byte
	sequence int64 // the next sequence_number
}

// begin starts an event. It is false if the writer is off.
func (w *eventWriter) begin(typ string) bool {
	if !w.on {
		return false
	}
	w.out = translate.AppendEventType(w.out, typ)
	w.out = translate.AppendIntMember(w.out, "sequence_number", w.sequence)
	w.sequence++
	return true
}

func (w *eventWriter) end() { w.out = append(w.out, "}\n\n"...) }

func (w *eventWriter) text(key string, text []byte) {
	w.out = translate.AppendTextMember(w.out, key, text)
}

func (w *eventWriter) int(key string, n int64) {
	w.out = translate.AppendIntMember(w.out, key, n)
}

func (w *eventWriter) put(key string, value []byte) {
	w.out = translate.AppendMember(w.out, key, value)
}

func (w *eventWriter) logprobs(elements []byte) {
	w.out = append(w.out, `,"logprobs":[`...)
	w.out = append(append(w.out, elements...), ']')
}

// location writes which item an event is about, and which part of it: always the last.
func (w *eventWriter) location(it *item) {
	w.put("item_id", it.id)
	w.int("output_index", int64(it.index))
	switch it.kind {
	case message:
		w.int("content_index", int64(len(it.parts)-1))
	case reasoning:
		w.int("summary_index", int64(len(it.parts)-1))
	}
}

// response writes an event with the response as it is.
func (w *eventWriter) response(typ string, r *response, e ending) {
	if !w.begin(typ) {
		return
	}
	w.out = r.append(translate.AppendKey(w.out, "response"), e)
	w.end()
}

// failure writes the error event behind a failed response.
func (w *eventWriter) failure(e *apierror.Error) {
	w.out = openai.AppendResponsesError(w.out, w.sequence, e)
}

func (w *eventWriter) itemAdded(it *item) { w.item("response.output_item.added", it) }
func (w *eventWriter) itemDone(it *item)  { w.item("response.output_item.done", it) }

func (w *eventWriter) item(typ string, it *item) {
	if !w.begin(typ) {
		return
	}
	w.int("output_index", int64(it.index))
	w.out = it.append(translate.AppendKey(w.out, "item"))
	w.end()
}

func (w *eventWriter) partAdded(it *item, p *part) { w.part(it.texts(p).part+".added", it, p) }

func (w *eventWriter) part(typ string, it *item, p *part) {
	if !w.begin(typ) {
		return
	}
	w.location(it)
	w.out = p.append(translate.AppendKey(w.out, "part"), it.kind)
	w.end()
}

// delta writes a piece of a part.
func (w *eventWriter) delta(it *item, p *part, piece, logprobs []byte) {
	typ := it.texts(p).delta
	if typ == "" || !w.begin(typ) {
		return
	}
	w.location(it)
	w.text("delta", piece)
	if it.kind == message && !p.refusal {
		w.logprobs(logprobs)
	}
	w.end()
}

func (w *eventWriter) annotationAdded(it *item, index int, annotation []byte) {
	if !w.begin("response.output_text.annotation.added") {
		return
	}
	w.location(it)
	w.int("annotation_index", int64(index))
	w.put("annotation", annotation)
	w.end()
}

// partDone writes the whole of a part.
func (w *eventWriter) partDone(it *item, p *part) {
	t := it.texts(p)
	if t.done == "" || !w.begin(t.done) {
		return
	}
	w.location(it)
	if it.kind == functionCall {
		w.put("name", it.name)
	}
	w.text(t.member, p.text)
	if it.kind == message && !p.refusal {
		w.logprobs(p.logprobs)
	}
	w.end()
	if t.part != "" {
		w.part(t.part+".done", it, p)
	}
}
