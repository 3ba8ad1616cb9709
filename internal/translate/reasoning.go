package translate

import (
	"encoding/base64"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// WrappedPrefix begins the encrypted_content of reasoning that the gateway wrote. The number is the
// version of what follows.
const WrappedPrefix = "gatehouse1."

var wrapping = base64.RawURLEncoding.Strict()

// WrapReasoning returns, quoted, the encrypted_content of a reasoning item that holds elements of
// reasoning_details. It hides nothing from its caller, who got the reasoning: its provider has
// signed or encrypted what must not be changed or read.
func WrapReasoning(elements []byte) []byte {
	out := append(make([]byte, 0, wrapping.EncodedLen(len(elements))+len(WrappedPrefix)+2), '"')
	out = append(out, WrappedPrefix...)
	return append(wrapping.AppendEncode(out, elements), '"')
}

// UnwrapReasoning returns the elements of reasoning_details in the encrypted_content of a reasoning
// item. It is false for one that WrapReasoning did not write.
func UnwrapReasoning(content string) (elements []byte, ok bool) {
	text, ok := strings.CutPrefix(content, WrappedPrefix)
	if !ok {
		return nil, false
	}
	elements, err := wrapping.DecodeString(text)
	if err != nil || len(elements) == 0 {
		return nil, false
	}
	array := append(append([]byte{'['}, elements...), ']')
	end := 0
	for span := range jsonscan.AllElements(array) {
		if span.Kind != '{' {
			return nil, false
		}
		if _, err := jsonscan.Strict(span.Value(array), nil); err != nil {
			return nil, false
		}
		end = span.End
	}
	return elements, end == len(array)-1
}

// SignedReasoning gathers elements of reasoning_details: what the model needs to take its reasoning
// back.
type SignedReasoning struct {
	Elements []byte // those that are complete

	id, text []byte // of the one that is not: quoted, and JSON without quotes
}

// Take takes an element or a piece of one, and returns how many bytes of it are kept. A piece with
// a signature is the last of its element. Reasoning without one is of no use to the model.
func (s *SignedReasoning) Take(detail []byte) (kept int) {
	var storage [8]jsonscan.Member
	o := openai.OpenObject(detail, storage[:0])
	get := func(key string) []byte { return o.Kind('"', key, "") }
	typ, id, signature, format, data := get("type"), get("id"), get("signature"), get("format"), get("data")
	if id != nil {
		s.id = append(s.id[:0], id...)
	}
	if piece, ok := Unquoted(get("text")); ok {
		s.text = append(s.text, piece...)
		kept = len(piece)
	}
	if typ == nil || signature == nil && data == nil {
		return kept
	}
	before := len(s.Elements)
	s.Elements = append(AppendComma(s.Elements), '{')
	s.Elements = AppendMember(s.Elements, "type", typ)
	if data != nil {
		s.Elements = AppendMember(s.Elements, "data", data)
	} else {
		s.Elements = AppendTextMember(s.Elements, "text", s.text)
		s.Elements = AppendMember(s.Elements, "signature", signature)
	}
	if len(s.id) > 0 {
		s.Elements = AppendMember(s.Elements, "id", s.id)
	}
	if format != nil {
		s.Elements = AppendMember(s.Elements, "format", format)
	}
	s.Elements = append(s.Elements, '}')
	s.id, s.text = s.id[:0], s.text[:0]
	return kept + len(s.Elements) - before
}
