package toresponses

import (
	"strconv"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// outputMembers are the members of an item, a part or an annotation that
// matter, nil for those that are not there.
type outputMembers struct {
	typ, id, status, callID, name, arguments, input       []byte
	content, summary, text, refusal, annotations, logprob []byte
}

func membersOf(object []byte) (o outputMembers) {
	if len(object) == 0 || object[0] != '{' {
		return o
	}
	var room [16]jsonscan.Member
	for _, m := range jsonscan.Members(object, room[:0]) {
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

// addItem takes an item, which begins here or has begun before.
func (r *responseReader) addItem(place int64, object []byte, begins bool) (*outputItem, outputMembers, *apierror.Error) {
	o := membersOf(object)
	kind, known := kindOf(o.typ)
	if !known {
		return nil, o, r.unknownItem(o.typ)
	}
	for _, id := range [...]*[]byte{&o.id, &o.callID} {
		if _, ok := translate.Inner(*id); !ok {
			*id = nil
		}
	}
	if kind == callItem {
		it := r.findCall(place, o, begins)
		if it == nil {
			var bad *apierror.Error
			if it, bad = r.beginCall(place, o.id, o.callID, o.name, string(o.typ) == `"custom_tool_call"`); bad != nil {
				return nil, o, bad
			}
		}
		return it, o, r.exceeded()
	}
	it := r.find(place, o.id, kind)
	if it == nil || begins && it.ended {
		it = r.newItem(place, o.id, kind)
	}
	r.start(kind == messageItem)
	return it, o, r.exceeded()
}

// endItem takes an item that is done, and says what was not said of it.
func (r *responseReader) endItem(place int64, object []byte) *apierror.Error {
	it, o, bad := r.addItem(place, object, false)
	if bad != nil {
		return bad
	}
	it.ended = true
	switch it.kind {
	case messageItem:
		return r.endMessage(it, o.content)
	case callItem:
		argument := o.arguments
		if it.custom {
			argument = o.input
		}
		r.endCall(it, argument, string(o.status) == `"incomplete"`)
	case reasoningItem:
		r.endReasoning(it, o)
	}
	return r.exceeded()
}

func (r *responseReader) endMessage(it *outputItem, content []byte) *apierror.Error {
	if len(content) > 0 && content[0] == '"' { // some servers
		r.endText(it, 0, content, nil, nil)
		return nil
	}
	for i, span := range jsonscan.Elements(content, nil) {
		if bad := r.endPart(it, int64(i), span.Value(content)); bad != nil {
			return bad
		}
	}
	return nil
}

// endPart takes a part of a message that is done.
func (r *responseReader) endPart(it *outputItem, index int64, object []byte) *apierror.Error {
	o := membersOf(object)
	switch string(o.typ) {
	case `"output_text"`, `"text"`:
		r.endText(it, index, o.text, o.logprob, o.annotations)
	case `"refusal"`:
		r.endRefusal(it, index, o.refusal)
	default:
		return r.unknownPart()
	}
	return r.exceeded()
}

func (r *responseReader) unknownPart() *apierror.Error {
	return translate.ProviderFailure(r.call, "answered with a content part that is no text")
}

// endText takes all of a part's text. Citations count characters from the
// beginning of their part, and in a chat completion from that of the message.
func (r *responseReader) endText(it *outputItem, index int64, text, logprobs, annotations []byte) {
	p := r.part(it, index, false)
	if piece, _ := translate.Inner(text); !p.said {
		r.sayText(it, p, piece, r.readTokens(logprobs))
	}
	if rest := it.rest(); rest != nil {
		r.to.text(rest, nil)
	}
	if cited := p.cited; !cited && len(annotations) > 0 && annotations[0] == '[' {
		for _, span := range jsonscan.Elements(annotations, nil) {
			r.cite(p, span.Value(annotations))
		}
	}
	if !p.over {
		p.over = true
		decoded, _ := jsonscan.String(text)
		r.shift += int64(utf8.RuneCountInString(decoded))
	}
}

// cite says a citation of a URL. Chat has its fields one level deeper than
// Responses; other annotations point into what only the provider has.
func (r *responseReader) cite(p *outputPart, annotation []byte) {
	url, title, typ := []byte(`""`), []byte(`""`), []byte(nil)
	start, end := int64(0), int64(0)
	var room [8]jsonscan.Member
	for _, m := range jsonscan.Members(annotation, room[:0]) {
		value := m.Value(annotation)
		switch key := m.DecodedKey(annotation); {
		case string(key) == "type":
			typ = value
		case m.Kind == '"' && string(key) == "url":
			url = value
		case m.Kind == '"' && string(key) == "title":
			title = value
		case string(key) == "start_index":
			start, _ = jsonscan.Int(value)
		case string(key) == "end_index":
			end, _ = jsonscan.Int(value)
		}
	}
	if string(typ) != `"url_citation"` {
		return
	}
	p.cited = true
	a := append([]byte(nil), `{"type":"url_citation","url_citation":{"url":`...)
	a = append(append(a, url...), `,"title":`...)
	a = append(append(a, title...), `,"start_index":`...)
	a = append(strconv.AppendInt(a, start+p.before, 10), `,"end_index":`...)
	a = strconv.AppendInt(a, end+p.before, 10)
	r.to.annotate(append(a, "}}"...))
}

func (r *responseReader) endRefusal(it *outputItem, index int64, text []byte) {
	p := r.part(it, index, false)
	if piece, ok := translate.Inner(text); ok && !p.said {
		r.sayRefusal(it, p, piece)
	}
	if rest := it.rest(); rest != nil {
		r.to.refusal(rest)
	}
}

// endReasoning takes the model's own words before the summary of them.
func (r *responseReader) endReasoning(it *outputItem, o outputMembers) {
	for _, list := range [...]struct {
		parts   []byte
		summary bool
	}{{o.content, false}, {o.summary, true}} {
		if len(list.parts) == 0 || list.parts[0] != '[' {
			continue
		}
		for i, span := range jsonscan.Elements(list.parts, nil) {
			r.endThought(it, int64(i), list.summary, membersOf(span.Value(list.parts)).text)
		}
	}
}

func (r *responseReader) endThought(it *outputItem, index int64, summary bool, text []byte) {
	p := r.part(it, index, summary)
	if piece, ok := translate.Inner(text); ok && !p.said {
		r.sayThought(it, p, piece)
	}
	if rest := it.rest(); rest != nil {
		r.to.think(rest)
	}
}

// endCall takes all of a call's arguments. A function without parameters is
// called with nothing by some; SDKs parse what they get.
func (r *responseReader) endCall(it *outputItem, argument []byte, isCut bool) {
	p := r.part(it, 0, false)
	if p.over {
		return
	}
	p.over = true
	piece, ok := translate.Inner(argument)
	switch {
	case p.said:
	case ok:
		r.sayArgument(it, piece)
	case !it.custom && !isCut:
		r.sayArgument(it, []byte("{}"))
	}
	if rest := it.rest(); rest != nil {
		r.to.argue(it.call, it.custom, rest)
	}
}
