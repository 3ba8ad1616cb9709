package responsesonchat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// signedReasoning returns the elements of reasoning_details in a reasoning item of an earlier answer
// of the gateway. There are none in any other: only its own provider can read it.
func signedReasoning(o translate.Reader) []byte {
	elements, _ := translate.UnwrapReasoning(o.DecodedText("encrypted_content"))
	return elements
}

// addSigned adds elements of reasoning_details.
func (t *assistantTurn) addSigned(elements []byte) {
	if len(elements) > 0 {
		t.details = append(translate.AppendComma(t.details), elements...)
	}
}
