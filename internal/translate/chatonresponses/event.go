package chatonresponses

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// event is an event. Its delta is the text of a piece, which the next events may have another of.
type event struct {
	openai.Object
	delta []byte
}

// event takes an event within the response. Events of other types report the tools that the
// provider runs, or repeat what is read elsewhere.
func (r *reader) event(typ []byte, e *event) *apierror.Error {
	name, ok := bytes.CutPrefix(typ, []byte("response."))
	if !ok {
		return nil
	}
	switch string(name) {
	case "output_text.delta":
		it := r.itemAt(e, messageItem)
		piece, _ := translate.Unquoted(e.delta)
		if tokens := r.readTokens(e.Get("logprobs")); len(piece) > 0 || len(tokens) > 0 {
			p := r.part(it, e.Index("content_index", 0), false)
			r.emitText(it, p, piece, tokens)
			if len(tokens) == 0 {
				r.repeat = repeat{it, p}
			}
		}
	case "output_text.done":
		r.textDone(r.itemAt(e, messageItem), e.Index("content_index", 0), e.Get("text"), e.Get("logprobs"), nil)
	case "output_text.annotation.added":
		r.emitCitation(r.part(r.itemAt(e, messageItem), e.Index("content_index", 0), false), e.Get("annotation"))
	case "refusal.delta":
		it := r.itemAt(e, messageItem)
		if piece, ok := translate.Unquoted(e.delta); ok {
			r.emitRefusal(it, r.part(it, e.Index("content_index", 0), false), piece)
		}
	case "refusal.done":
		r.refusalDone(r.itemAt(e, messageItem), e.Index("content_index", 0), e.Get("refusal"))
	case "reasoning_text.delta":
		r.reasoningDelta(e, e.Index("content_index", 0), false)
	case "reasoning_text.done":
		r.reasoningDone(r.itemAt(e, reasoningItem), e.Index("content_index", 0), false, e.Get("text"))
	case "reasoning_summary_text.delta":
		r.reasoningDelta(e, e.Index("summary_index", 0), true)
	case "reasoning_summary_text.done":
		r.reasoningDone(r.itemAt(e, reasoningItem), e.Index("summary_index", 0), true, e.Get("text"))
	case "function_call_arguments.delta", "custom_tool_call_input.delta":
		return r.argumentsDelta(e)
	case "function_call_arguments.done":
		return r.argumentsDone(e, e.Get("arguments"))
	case "custom_tool_call_input.done":
		return r.argumentsDone(e, e.Get("input"))
	case "content_part.added":
		return r.partAdded(e)
	case "output_item.added":
		_, bad := r.itemOf(e.Index("output_index", -1), r.open(e.Get("item")), true)
		return bad
	case "output_item.done":
		return r.itemDone(e.Index("output_index", -1), e.Get("item"))
	}
	return r.checkSize()
}

// itemAt returns the item of this kind that an event is about, and adds it if there is none.
func (r *reader) itemAt(e *event, kind itemKind) *item {
	return r.items.get(e.Index("output_index", -1), e.Text("item_id"), kind)
}

func (r *reader) reasoningDelta(e *event, index int64, summary bool) {
	it := r.itemAt(e, reasoningItem)
	if piece, ok := translate.Unquoted(e.delta); ok {
		p := r.part(it, index, summary)
		r.emitReasoning(it, p, piece)
		r.repeat = repeat{it, p}
	}
}

func (r *reader) argumentsDelta(e *event) *apierror.Error {
	it := r.items.find(e.Index("output_index", -1), e.Text("item_id"), callItem)
	if it == nil {
		return translate.ProviderFailure(r.call, translate.FragmentOfNoCall)
	}
	if piece, ok := translate.Unquoted(e.delta); ok {
		r.emitArguments(it, piece)
		r.repeat = repeat{it, nil}
	}
	return nil
}

// argumentsDone takes the arguments of a call that began. The done item of any other call has them
// too.
func (r *reader) argumentsDone(e *event, argument []byte) *apierror.Error {
	if it := r.items.find(e.Index("output_index", -1), e.Text("item_id"), callItem); it != nil {
		if _, ok := translate.Unquoted(argument); ok {
			r.callDone(it, argument, false)
		}
	}
	return nil
}

// partAdded fails an answer at the beginning of a part that is not text.
func (r *reader) partAdded(e *event) *apierror.Error {
	switch string(r.open(e.Get("part")).Get("type")) {
	case `"output_text"`, `"text"`, `"refusal"`, `"reasoning_text"`, "":
		return nil
	}
	return translate.ProviderFailure(r.call, translate.PartNotText)
}
