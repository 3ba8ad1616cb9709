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
func readSignatures(message translate.Object) (signatures map[string][]byte, err error) {
	err = message.Each("reasoning_details", translate.MaxParts, func(_ int, detail translate.Object) error {
		var typ, from, id string
		for _, m := range [...]struct {
			key string
			to  *string
		}{{"type", &typ}, {"format", &from}, {"id", &id}} {
			if *m.to, err = detail.DecodedText(m.key); err != nil {
				return err
			}
		}
		data, err := detail.Text("data")
		if err != nil || typ != "reasoning.encrypted" || from != format || id == "" {
			return err
		}
		if _, some := translate.Unquoted(data); !some {
			return nil
		}
		if signatures == nil {
			signatures = map[string][]byte{}
		}
		signatures[id] = data
		return nil
	})
	return signatures, err
}

// extraSignature returns the signature of a call in the form of Google's own layer for OpenAI's SDKs,
// extra_content.google.thought_signature, quoted; nil for none.
func extraSignature(call translate.Object) ([]byte, error) {
	extra, ok, err := call.Object("extra_content")
	if err != nil || !ok {
		return nil, err
	}
	google, ok, err := extra.Object("google")
	if err != nil || !ok {
		return nil, err
	}
	signature, err := google.Text("thought_signature")
	if _, some := translate.Unquoted(signature); !some {
		return nil, err
	}
	return signature, nil
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
