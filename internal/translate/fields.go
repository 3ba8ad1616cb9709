package translate

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Disposition is what becomes of a top-level field of a request.
type Disposition string

const (
	// Kept fields reach the provider unchanged, by the same name.
	Kept Disposition = "kept"
	// Mapped fields reach the provider in another shape, or the gateway acts on them.
	Mapped Disposition = "mapped"
	// LeftOut fields are not sent, and a header names them. The vendor of the provider, or of the
	// field, documents that they may have no effect.
	LeftOut Disposition = "left out"
	// Ignored fields change nothing in the answer of such a provider.
	Ignored Disposition = "ignored"
	// Refused fields are a 400 unless they are null.
	Refused Disposition = "refused"
)

// Fields is the table of the fields of a request. A field that is not in it is refused.
type Fields map[string]Disposition

// Check refuses the first field of a request that has no counterpart, and options of the stream
// that have none. It returns the names of those that are left out. neutral reports whether a field
// has a value that asks for nothing; such a field is neither refused nor named. It may be nil.
func (f Fields) Check(body Reader, neutral func(key string, value []byte) bool) (leftOut []string) {
	for _, m := range body.members {
		if m.Kind == 'n' {
			continue
		}
		key := string(m.Key(body.data))
		d, known := f[key]
		switch {
		case known && (d != Refused && d != LeftOut || neutral != nil && neutral(key, m.Value(body.data))):
		case d == LeftOut:
			leftOut = append(leftOut, key)
		default:
			body.Fail(Unsupported(key))
			return nil
		}
	}
	// Padding (include_obfuscation) concerns the connection of the client, not the provider.
	body.Object("stream_options", "include_obfuscation", "include_usage")
	return leftOut
}

// PutKept writes the fields of a request that the provider gets unchanged.
func (f Fields) PutKept(w *Writer, body Reader) {
	for _, m := range body.members {
		if key := string(m.Key(body.data)); m.Kind != 'n' && f[key] == Kept {
			w.Member(key, m.Value(body.data))
		}
	}
}

// Neutral are values of refused fields and of those left out that ask for nothing, without white
// space: many clients send every setting they have. Such fields are dropped.
type Neutral map[string][]string

// maxNeutral bounds the text that is compared with neutral values.
const maxNeutral = 64

// Has reports whether a field has a value that asks for nothing.
func (n Neutral) Has(key string, value []byte) bool {
	if len(value) > maxNeutral {
		return false
	}
	if i, ok := jsonscan.Int(value); ok {
		value = strconv.AppendInt(nil, i, 10)
	} else {
		value = bytes.Join(bytes.Fields(value), nil)
	}
	return slices.Contains(n[key], string(value))
}
