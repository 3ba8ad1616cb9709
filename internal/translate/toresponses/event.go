package toresponses

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// responseEvent are the members of an event that matter, nil for those that
// are not there, and the indexes, -1 for none.
type responseEvent struct {
	typ, itemID, item, part, annotation, response, delta []byte
	text, refusal, arguments, input, logprobs            []byte
	output, content, summary                             int64
}

// parse reads an event; a room is reused.
func (e *responseEvent) parse(data []byte, room []jsonscan.Member) []jsonscan.Member {
	*e = responseEvent{output: -1}
	room = jsonscan.Members(data, room[:0])
	for _, m := range room {
		if m.Kind == 'n' {
			continue
		}
		value := m.Value(data)
		switch string(m.DecodedKey(data)) {
		case "type":
			e.typ = value
		case "item_id":
			if _, ok := translate.Inner(value); ok {
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
		case "delta":
			e.delta = value
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
			e.output = index(value, -1)
		case "content_index":
			e.content = index(value, 0)
		case "summary_index":
			e.summary = index(value, 0)
		}
	}
	return room
}

func index(value []byte, otherwise int64) int64 {
	if n, ok := jsonscan.Int(value); ok && n >= 0 {
		return n
	}
	return otherwise
}

// event takes an event within the response. Events of other types tell of
// tools that the provider runs, or repeat what is read elsewhere.
func (r *responseReader) event(typ []byte, e *responseEvent) *apierror.Error {
	kind, ok := bytes.CutPrefix(typ, []byte("response."))
	if !ok {
		return nil
	}
	switch string(kind) {
	case "output_text.delta":
		it := r.item(e.output, e.itemID, messageItem)
		piece, _ := translate.Inner(e.delta)
		if tokens := r.readTokens(e.logprobs); len(piece) > 0 || len(tokens) > 0 {
			r.sayText(it, r.part(it, e.content, false), piece, tokens)
		}
	case "output_text.done":
		r.endText(r.item(e.output, e.itemID, messageItem), e.content, e.text, e.logprobs, nil)
	case "output_text.annotation.added":
		r.cite(r.part(r.item(e.output, e.itemID, messageItem), e.content, false), e.annotation)
	case "refusal.delta":
		it := r.item(e.output, e.itemID, messageItem)
		if piece, ok := translate.Inner(e.delta); ok {
			r.sayRefusal(it, r.part(it, e.content, false), piece)
		}
	case "refusal.done":
		r.endRefusal(r.item(e.output, e.itemID, messageItem), e.content, e.refusal)
	case "reasoning_text.delta":
		r.thoughtDelta(e, e.content, false)
	case "reasoning_text.done":
		r.endThought(r.item(e.output, e.itemID, reasoningItem), e.content, false, e.text)
	case "reasoning_summary_text.delta":
		r.thoughtDelta(e, e.summary, true)
	case "reasoning_summary_text.done":
		r.endThought(r.item(e.output, e.itemID, reasoningItem), e.summary, true, e.text)
	case "function_call_arguments.delta", "custom_tool_call_input.delta":
		return r.argumentDelta(e)
	case "function_call_arguments.done":
		return r.argumentsDone(e, e.arguments)
	case "custom_tool_call_input.done":
		return r.argumentsDone(e, e.input)
	case "content_part.added":
		return r.partAdded(e)
	case "output_item.added":
		_, _, bad := r.addItem(e.output, e.item, true)
		return bad
	case "output_item.done":
		return r.endItem(e.output, e.item)
	}
	return r.exceeded()
}

func (r *responseReader) thoughtDelta(e *responseEvent, part int64, summary bool) {
	it := r.item(e.output, e.itemID, reasoningItem)
	if piece, ok := translate.Inner(e.delta); ok {
		r.sayThought(it, r.part(it, part, summary), piece)
	}
}

func (r *responseReader) argumentDelta(e *responseEvent) *apierror.Error {
	it := r.find(e.output, e.itemID, callItem)
	if it == nil {
		return translate.ProviderFailure(r.call, "answered with a fragment of no tool call")
	}
	if piece, ok := translate.Inner(e.delta); ok {
		r.sayArgument(it, piece)
	}
	return nil
}

// argumentsDone takes the arguments of a call that is known: of one that is
// not, its item tells.
func (r *responseReader) argumentsDone(e *responseEvent, argument []byte) *apierror.Error {
	if it := r.find(e.output, e.itemID, callItem); it != nil {
		if _, ok := translate.Inner(argument); ok {
			r.endCall(it, argument, false)
		}
	}
	return nil
}

// partAdded refuses parts that are no text before they come.
func (r *responseReader) partAdded(e *responseEvent) *apierror.Error {
	switch string(membersOf(e.part).typ) {
	case `"output_text"`, `"text"`, `"refusal"`, `"reasoning_text"`, "":
		return nil
	}
	return r.unknownPart()
}

// end takes the response that ends the answer, and the type of the event that
// brought it, nil for a whole one. Where no item was told of before, its output
// is the answer.
func (r *responseReader) end(response []byte, members []jsonscan.Member, event []byte) (e chatEnd, bad *apierror.Error) {
	var status, reason, output []byte
	for _, m := range members {
		value := m.Value(response)
		switch string(m.DecodedKey(response)) {
		case "status":
			status = value
		case "incomplete_details":
			inside := jsonscan.Members(value, nil)
			if i, ok := jsonscan.Find(value, inside, "reason"); ok {
				reason = inside[i].Value(value)
			}
		case "output":
			output = value
		case "service_tier":
			if m.Kind == '"' && len(value) <= translate.MaxTier {
				e.tier = value
			}
		}
	}
	isCut := string(status) == `"incomplete"` || string(event) == "response.incomplete"
	if s := string(status); event == nil && (s == `"in_progress"` || s == `"queued"`) {
		return e, translate.ProviderFailure(r.call, "answered with a response that is not done")
	}
	if len(r.items) == 0 {
		for i, span := range jsonscan.Elements(output, nil) {
			if bad := r.endItem(int64(i), span.Value(output)); bad != nil {
				return e, bad
			}
		}
	}
	r.start(true)
	for i := range r.items {
		if it := &r.items[i]; it.half != nil {
			r.flush(it)
		}
	}
	switch {
	case isCut && string(reason) == `"content_filter"`:
		e.finish = "content_filter"
	case isCut:
		e.finish = "length"
	case r.calls > 0:
		e.finish = "tool_calls"
	default:
		e.finish = "stop"
	}
	return e, nil
}

// flush says the half of a character that an item was left with.
func (r *responseReader) flush(it *outputItem) {
	rest := it.rest()
	switch {
	case it.kind == callItem:
		r.to.argue(it.call, it.custom, rest)
	case it.kind == reasoningItem:
		r.to.think(rest)
	default:
		r.to.text(rest, nil)
	}
}
