package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// signed gathers the reasoning_details of a reasoning item: what the model needs to take its
// reasoning back.
type signed struct {
	elements []byte // those that are complete

	id, text []byte // of the one that is not: quoted, and JSON without quotes
}

// readSigned takes elements of reasoning_details, or pieces of them. A piece with a signature is the
// last of its element. Reasoning without one is of no use to the model.
func (r *builder) readSigned(details []byte) {
	var members [8]jsonscan.Member
	for span := range jsonscan.AllElements(details) {
		if span.Kind != '{' {
			continue
		}
		detail := span.Value(details)
		var typ, id, text, signature, format, data []byte
		for _, m := range jsonscan.Members(detail, members[:0]) {
			value := m.Value(detail)
			if m.Kind != '"' {
				continue
			}
			switch string(m.DecodedKey(detail)) {
			case "type":
				typ = value
			case "id":
				id = value
			case "text":
				text = value
			case "signature":
				signature = value
			case "format":
				format = value
			case "data":
				data = value
			}
		}
		it := r.current(reasoning)
		s := &it.signed
		if id != nil {
			s.id = append(s.id[:0], id...)
		}
		if piece, ok := translate.Unquoted(text); ok {
			s.text = append(s.text, piece...)
			r.textSize += len(piece)
		}
		if signature == nil && data == nil {
			continue
		}
		before := len(s.elements)
		s.elements = append(translate.AppendComma(s.elements), '{')
		s.elements = translate.AppendMember(s.elements, "type", typ)
		if data != nil {
			s.elements = translate.AppendMember(s.elements, "data", data)
		} else {
			s.elements = translate.AppendTextMember(s.elements, "text", s.text)
			s.elements = translate.AppendMember(s.elements, "signature", signature)
		}
		if len(s.id) > 0 {
			s.elements = translate.AppendMember(s.elements, "id", s.id)
		}
		if format != nil {
			s.elements = translate.AppendMember(s.elements, "format", format)
		}
		s.elements = append(s.elements, '}')
		s.id, s.text = s.id[:0], s.text[:0]
		r.textSize += len(s.elements) - before
	}
}

// signedReasoning returns the elements of reasoning_details in a reasoning item of an earlier answer
// of the gateway. There are none in any other: only its own provider can read it.
func signedReasoning(o translate.Object) ([]byte, error) {
	content, err := o.DecodedText("encrypted_content")
	if err != nil {
		return nil, err
	}
	elements, _ := translate.UnwrapReasoning(content)
	return elements, nil
}

// addSigned adds elements of reasoning_details.
func (t *assistantTurn) addSigned(elements []byte) {
	if len(elements) > 0 {
		t.details = append(translate.AppendComma(t.details), elements...)
	}
}
