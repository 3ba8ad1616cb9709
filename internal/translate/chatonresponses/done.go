package chatonresponses

import (
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// itemMembers are the members of an item or a part that matter, nil for those that are absent.
type itemMembers struct {
	typ, id, status, callID, name, arguments, input       []byte
	content, summary, text, refusal, annotations, logprob []byte
}

func readMembers(object []byte) (o itemMembers) {
	if len(object) == 0 || object[0] != '{' {
		return o
	}
	var members [16]jsonscan.Member
	for _, m := range jsonscan.Members(object, members[:0]) {
		if m.Kind == 'n' {
			continue
		}
		value := m.Value(object)
		switch string(m.DecodedKey(object)) {
		case "type":
			o.typ = value
		case "id":
			o.id = value
		case "status":
			o.status = value
		case "call_id":
			o.callID = value
		case "name":
			o.name = value
		case "arguments":
			o.arguments = value
		case "input":
			o.input = value
		case "content":
			o.content = value
		case "summary":
			o.summary = value
		case "text":
			o.text = value
		case "refusal":
			o.refusal = value
		case "annotations":
			o.annotations = value
		case "logprobs":
			o.logprob = value
		}
	}
	return o
}

// itemOf returns the item that an object is of, and begins it if it is new. added says that an
// event announces it.
func (r *reader) itemOf(index int64, object []byte, added bool) (*item, itemMembers, *apierror.Error) {
	o := readMembers(object)
	kind, ok := kindOf(o.typ)
	if !ok {
		return nil, o, unknownItem(r.call, o.typ)
	}
	for _, id := range [...]*[]byte{&o.id, &o.callID} {
		if _, ok := translate.Unquoted(*id); !ok {
			*id = nil
		}
	}
	if kind == callItem {
		it := r.items.findCall(index, o.id, o.callID, added)
		if it == nil {
			var bad *apierror.Error
			if it, bad = r.beginCall(index, o); bad != nil {
				return nil, o, bad
			}
		}
		return it, o, r.checkSize()
	}
	it := r.items.find(index, o.id, kind)
	if it == nil || added && it.done {
		it = r.items.add(index, o.id, kind)
	}
	r.begin(kind == messageItem)
	return it, o, r.checkSize()
}

// itemDone takes an item that is done, and emits what was not emitted of it.
func (r *reader) itemDone(index int64, object []byte) *apierror.Error {
	it, o, bad := r.itemOf(index, object, false)
	if bad != nil {
		return bad
	}
	it.done = true
	switch it.kind {
	case messageItem:
		return r.messageDone(it, o.content)
	case callItem:
		argument := o.arguments
		if it.custom {
			argument = o.input
		}
		r.callDone(it, argument, string(o.status) == `"incomplete"`)
	case reasoningItem:
		r.reasoningItemDone(it, o)
	}
	return r.checkSize()
}

func (r *reader) messageDone(it *item, content []byte) *apierror.Error {
	if len(content) > 0 && content[0] == '"' { // some servers
		r.textDone(it, 0, itemMembers{text: content})
		return nil
	}
	for i, span := range jsonscan.Elements(content, nil) {
		switch o := readMembers(span.Value(content)); string(o.typ) {
		case `"output_text"`, `"text"`:
			r.textDone(it, int64(i), o)
		case `"refusal"`:
			r.refusalDone(it, int64(i), o.refusal)
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
func (r *reader) textDone(it *item, index int64, o itemMembers) {
	p := r.part(it, index, false)
	if piece, _ := translate.Unquoted(o.text); !p.emitted {
		r.emitText(it, p, piece, r.readTokens(o.logprob))
	}
	if rest := it.joins.Rest(); rest != nil {
		r.to.Text(rest, nil)
	}
	if !p.cited {
		for span := range jsonscan.AllElements(o.annotations) {
			r.emitCitation(p, span.Value(o.annotations))
		}
	}
	if !p.done {
		p.done = true
		decoded, _ := jsonscan.String(o.text)
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
func (r *reader) reasoningItemDone(it *item, o itemMembers) {
	for i, span := range jsonscan.Elements(o.content, nil) {
		r.reasoningDone(it, int64(i), false, readMembers(span.Value(o.content)).text)
	}
	for i, span := range jsonscan.Elements(o.summary, nil) {
		r.reasoningDone(it, int64(i), true, readMembers(span.Value(o.summary)).text)
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
