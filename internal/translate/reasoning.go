package translate

import (
	"encoding/base64"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
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
