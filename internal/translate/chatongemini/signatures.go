package chatongemini

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// dummy is the signature that Google documents for calls of another model,
// skip_thought_signature_validator, in base64: signatures are bytes.
const dummy = `"c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="`

// readSignatures returns the signatures in reasoning_details, quoted, by the ids of the calls that they
// belong to.
func readSignatures(message translate.Reader) (signatures map[string][]byte) {
	message.Each("reasoning_details", translate.MaxParts, func(_ int, detail translate.Reader) {
		typ, from, id := detail.DecodedText("type"), detail.DecodedText("format"), detail.DecodedText("id")
		data := translate.NonEmptyText(detail, "data")
		if data == nil || typ != "reasoning.encrypted" || from != format || id == "" {
			return
		}
		if signatures == nil {
			signatures = map[string][]byte{}
		}
		signatures[id] = data
	})
	return signatures
}

// withDummies returns a request with the dummy in place of the signatures that begin at these places.
func withDummies(body []byte, at []int) []byte {
	out := make([]byte, 0, len(body))
	from := 0
	for _, i := range at {
		out = append(append(out, body[from:i]...), dummy...)
		from, _ = jsonscan.StringEnd(body, i)
	}
	return append(slices.Clip(out), body[from:]...)
}
