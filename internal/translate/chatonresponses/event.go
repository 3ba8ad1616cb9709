package chatonresponses

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// event has the members of an event that matter, nil for those that are absent, and its indexes.
type event struct {
	typ, itemID, item, part, annotation, response, delta []byte
	text, refusal, arguments, input, logprobs            []byte
	outputIndex                                          int64 // -1 if absent
	contentIndex, summaryIndex                           int64 // 0 if absent
}

// parse reads an event.
func (e *event) parse(repaired *openai.ResponsesEvent) {
	*e = event{outputIndex: -1, delta: repaired.Delta}
	data := repaired.Data
	for _, m := range repaired.Members {
		if m.Kind == 'n' {
			continue
		}
		value := m.Value(data)
		switch string(m.DecodedKey(data)) {
		case "type":
			e.typ = value
		case "item_id":
			if _, ok := translate.Unquoted(value); ok {
				e.itemID = value
			}
		case "item":
			e.item = value
		case "part":
			e.part = value
		case "annotation":
			e.annotation = value
		case "response":
			e.response = value
		case "text":
			e.text = value
		case "refusal":
			e.refusal = value
		case "arguments":
			e.arguments = value
		case "input":
			e.input = value
		case "logprobs":
			e.logprobs = value
		case "output_index":
			e.outputIndex = parseIndex(value, -1)
		case "content_index":
			e.contentIndex = parseIndex(value, 0)
		case "summary_index":
			e.summaryIndex = parseIndex(value, 0)
		}
	}
}

func parseIndex(value []byte, otherwise int64) int64 {
	if n, ok := jsonscan.Int(value); ok && n >= 0 {
		return n
	}
	return otherwise
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
		if tokens := r.readTokens(e.logprobs); len(piece) > 0 || len(tokens) > 0 {
			p := r.part(it, e.contentIndex, false)
			r.emitText(it, p, piece, tokens)
			if len(tokens) == 0 {
				r.repeat = repeat{it, p}
			}
		}
	case "output_text.done":
		r.textDone(r.itemAt(e, messageItem), e.contentIndex, itemMembers{text: e.text, logprob: e.logprobs})
	case "output_text.annotation.added":
		r.emitCitation(r.part(r.itemAt(e, messageItem), e.contentIndex, false), e.annotation)
	case "refusal.delta":
		it := r.itemAt(e, messageItem)
		if piece, ok := translate.Unquoted(e.delta); ok {
			r.emitRefusal(it, r.part(it, e.contentIndex, false), piece)
		}
	case "refusal.done":
		r.refusalDone(r.itemAt(e, messageItem), e.contentIndex, e.refusal)
	case "reasoning_text.delta":
		r.reasoningDelta(e, e.contentIndex, false)
	case "reasoning_text.done":
		r.reasoningDone(r.itemAt(e, reasoningItem), e.contentIndex, false, e.text)
	case "reasoning_summary_text.delta":
		r.reasoningDelta(e, e.summaryIndex, true)
	case "reasoning_summary_text.done":
		r.reasoningDone(r.itemAt(e, reasoningItem), e.summaryIndex, true, e.text)
	case "function_call_arguments.delta", "custom_tool_call_input.delta":
		return r.argumentsDelta(e)
	case "function_call_arguments.done":
		return r.argumentsDone(e, e.arguments)
	case "custom_tool_call_input.done":
		return r.argumentsDone(e, e.input)
	case "content_part.added":
		return r.partAdded(e)
	case "output_item.added":
		_, _, bad := r.itemOf(e.outputIndex, e.item, true)
		return bad
	case "output_item.done":
		return r.itemDone(e.outputIndex, e.item)
	}
	return r.checkSize()
}

// itemAt returns the item of this kind that an event is about, and adds it if there is none.
func (r *reader) itemAt(e *event, kind itemKind) *item {
	return r.items.get(e.outputIndex, e.itemID, kind)
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
	it := r.items.find(e.outputIndex, e.itemID, callItem)
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
	if it := r.items.find(e.outputIndex, e.itemID, callItem); it != nil {
		if _, ok := translate.Unquoted(argument); ok {
			r.callDone(it, argument, false)
		}
	}
	return nil
}

// partAdded fails an answer at the beginning of a part that is not text.
func (r *reader) partAdded(e *event) *apierror.Error {
	switch string(readMembers(e.part).typ) {
	case `"output_text"`, `"text"`, `"refusal"`, `"reasoning_text"`, "":
		return nil
	}
	return translate.ProviderFailure(r.call, translate.PartNotText)
}
