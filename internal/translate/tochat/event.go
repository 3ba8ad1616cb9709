package tochat

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// begin starts an event. It is false where nobody listens.
func (a *answer) begin(typ string) bool {
	if !a.streamed {
		return false
	}
	a.out = append(a.out, "event: "...)
	a.out = append(a.out, typ...)
	a.out = append(a.out, "\ndata: {\"type\":\""...)
	a.out = append(a.out, typ...)
	a.out = append(a.out, `","sequence_number":`...)
	a.out = strconv.AppendInt(a.out, a.sequence, 10)
	a.sequence++
	return true
}

func (a *answer) done() { a.out = append(a.out, "}\n\n"...) }

// place says which part of which item an event is about.
func (a *answer) place(it *item) {
	a.out = append(a.out, `,"item_id":`...)
	a.out = append(a.out, it.id...)
	a.out = append(a.out, `,"output_index":`...)
	a.out = translate.AppendInt(a.out, it.index)
	switch it.kind {
	case message:
		a.out = append(a.out, `,"content_index":`...)
	case reasoning:
		a.out = append(a.out, `,"summary_index":`...)
	default:
		return
	}
	a.out = translate.AppendInt(a.out, len(it.parts)-1)
}

// quoted appends a member whose value is text without its quotes.
func (a *answer) quoted(key string, text []byte) {
	a.out = append(a.out, ',', '"')
	a.out = append(a.out, key...)
	a.out = append(a.out, `":"`...)
	a.out = append(a.out, text...)
	a.out = append(a.out, '"')
}

func (a *answer) listed(logprobs []byte) {
	a.out = append(a.out, `,"logprobs":[`...)
	a.out = append(a.out, logprobs...)
	a.out = append(a.out, ']')
}

func (a *answer) itemAdded(it *item) { a.itemEvent("response.output_item.added", it) }
func (a *answer) itemDone(it *item)  { a.itemEvent("response.output_item.done", it) }

func (a *answer) itemEvent(typ string, it *item) {
	if !a.begin(typ) {
		return
	}
	a.out = append(a.out, `,"output_index":`...)
	a.out = translate.AppendInt(a.out, it.index)
	a.out = append(a.out, `,"item":`...)
	a.out = it.append(a.out)
	a.done()
}

func (a *answer) partAdded(it *item, p *part) {
	if it.kind == message {
		a.partEvent("response.content_part.added", it, p)
	} else {
		a.partEvent("response.reasoning_summary_part.added", it, p)
	}
}

func (a *answer) partEvent(typ string, it *item, p *part) {
	if !a.begin(typ) {
		return
	}
	a.place(it)
	a.out = append(a.out, `,"part":`...)
	a.out = p.append(a.out, it.kind)
	a.done()
}

// deltaEvent is the type of the event that brings a piece of a part.
func deltaEvent(it *item, p *part) string {
	switch {
	case it.kind == reasoning:
		return "response.reasoning_summary_text.delta"
	case it.kind == functionCall:
		return "response.function_call_arguments.delta"
	case p.refusal:
		return "response.refusal.delta"
	}
	return "response.output_text.delta"
}

func (a *answer) delta(typ string, it *item, piece, logprobs []byte) {
	if !a.begin(typ) {
		return
	}
	a.place(it)
	a.quoted("delta", piece)
	if typ == "response.output_text.delta" {
		a.listed(logprobs)
	}
	a.done()
}

func (a *answer) annotationAdded(it *item, index int, annotation []byte) {
	if !a.begin("response.output_text.annotation.added") {
		return
	}
	a.place(it)
	a.out = append(a.out, `,"annotation_index":`...)
	a.out = translate.AppendInt(a.out, index)
	a.out = append(a.out, `,"annotation":`...)
	a.out = append(a.out, annotation...)
	a.done()
}

// partDone tells the whole of a part.
func (a *answer) partDone(it *item, p *part) {
	switch {
	case it.kind == functionCall:
		if a.begin("response.function_call_arguments.done") {
			a.place(it)
			a.out = append(a.out, `,"name":`...)
			a.out = append(a.out, it.name...)
			a.quoted("arguments", p.text)
			a.done()
		}
	case it.kind == reasoning:
		if a.begin("response.reasoning_summary_text.done") {
			a.place(it)
			a.quoted("text", p.text)
			a.done()
		}
		a.partEvent("response.reasoning_summary_part.done", it, p)
	case p.refusal:
		if a.begin("response.refusal.done") {
			a.place(it)
			a.quoted("refusal", p.text)
			a.done()
		}
		a.partEvent("response.content_part.done", it, p)
	default:
		if a.begin("response.output_text.done") {
			a.place(it)
			a.quoted("text", p.text)
			a.listed(p.logprobs)
			a.done()
		}
		a.partEvent("response.content_part.done", it, p)
	}
}
