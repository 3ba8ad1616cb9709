package chatonresponses

import (
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// itemOf returns the item that an object is of, and begins it if it is new. added says that an
// event announces it.
func (r *reader) itemOf(index int64, o openai.Object, added bool) (*item, *apierror.Error) {
	typ := o.Get("type")
	kind, ok := kindOf(typ)
	if !ok {
		return nil, unknownItem(r.call, typ)
	}
	id, callID := o.Text("id"), o.Text("call_id")
	if kind == callItem {
		it := r.items.findCall(index, id, callID, added)
		if it == nil {
			var bad *apierror.Error
			if it, bad = r.beginCall(index, o); bad != nil {
				return nil, bad
			}
		}
		return it, r.checkSize()
	}
	it := r.items.find(index, id, kind)
	if it == nil || added && it.done {
		it = r.items.add(index, id, kind)
	}
	r.to.Begin(kind == messageItem)
	return it, r.checkSize()
}

// itemDone takes an item that is done, and emits what was not emitted of it.
func (r *reader) itemDone(index int64, object []byte) *apierror.Error {
	o := r.open(object)
	it, bad := r.itemOf(index, o, false)
	if bad != nil {
		return bad
	}
	it.done = true
	switch it.kind {
	case messageItem:
		return r.messageDone(it, o.Get("content"))
	case callItem:
		argument := o.Get("arguments")
		if it.custom {
			argument = o.Get("input")
		}
		r.callDone(it, argument, string(o.Get("status")) == `"incomplete"`)
	case reasoningItem:
		r.reasoningItemDone(it, o)
	}
	return r.checkSize()
}

func (r *reader) messageDone(it *item, content []byte) *apierror.Error {
	if len(content) > 0 && content[0] == '"' { // some servers
		r.textDone(it, 0, content, nil, nil)
		return nil
	}
	for i, span := range jsonscan.Elements(content, nil) {
		switch o := r.open(span.Value(content)); string(o.Get("type")) {
		case `"output_text"`, `"text"`:
			r.textDone(it, int64(i), o.Get("text"), o.Get("logprobs"), o.Get("annotations"))
		case `"refusal"`:
			r.refusalDone(it, int64(i), o.Get("refusal"))
		default:
			return translate.ProviderFailure(r.call, translate.PartNotText)
		}
		if bad := r.checkSize(); bad != nil {
			return bad
		}
	}
	return nil
}

// textDone takes all of a part's text, with its log probabilities and annotations.
func (r *reader) textDone(it *item, index int64, text, logprobs, annotations []byte) {
	p := r.part(it, index, false)
	if piece, _ := translate.Unquoted(text); !p.emitted {
		r.emitText(it, p, piece, r.readTokens(logprobs))
	}
	if rest := it.joins.Rest(); rest != nil {
		r.to.Text(rest, nil)
	}
	if !p.cited {
		for span := range jsonscan.AllElements(annotations) {
			r.emitCitation(p, span.Value(annotations))
		}
	}
	if !p.done {
		p.done = true
		decoded, _ := jsonscan.String(text)
		r.shift += int64(utf8.RuneCountInString(decoded))
	}
}

func (r *reader) refusalDone(it *item, index int64, text []byte) {
	p := r.part(it, index, false)
	if piece, ok := translate.Unquoted(text); ok && !p.emitted {
		r.emitRefusal(it, p, piece)
	}
	if rest := it.joins.Rest(); rest != nil {
		r.to.Refusal(rest)
	}
}

// reasoningItemDone takes the reasoning itself before the summary of it.
func (r *reader) reasoningItemDone(it *item, o openai.Object) {
	for _, key := range [...]string{"content", "summary"} {
		parts := o.Get(key)
		for i, span := range jsonscan.Elements(parts, nil) {
			r.reasoningDone(it, int64(i), key == "summary", r.open(span.Value(parts)).Get("text"))
		}
	}
}

func (r *reader) reasoningDone(it *item, index int64, summary bool, text []byte) {
	p := r.part(it, index, summary)
	if piece, ok := translate.Unquoted(text); ok && !p.emitted {
		r.emitReasoning(it, p, piece)
	}
	if rest := it.joins.Rest(); rest != nil {
		r.to.Reasoning(rest, nil)
	}
}

// callDone takes all of a call's arguments. Some providers call a function without parameters with
// an empty text, but SDKs parse it as JSON.
func (r *reader) callDone(it *item, argument []byte, incomplete bool) {
	p := r.part(it, 0, false)
	if p.done {
		return
	}
	p.done = true
	piece, ok := translate.Unquoted(argument)
	switch {
	case p.emitted:
	case ok:
		r.emitArguments(it, piece)
	case !it.custom && !incomplete:
		r.emitArguments(it, []byte("{}"))
	}
	r.flush(it)
}
