package document

import (
	"bytes"
	"unicode/utf16"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// TextOf is the text of a valid string value, or of a value of another kind.
func TextOf(value []byte) string {
	if value[0] != '"' {
		return string(value)
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	s, _ := jsonscan.String(value)
	return s
}

// PieceDecoder decodes a text that comes in pieces, each a value of its own.
type PieceDecoder struct {
	half []byte // the escape of half a character, waiting for the other
}

// Decode decodes a piece, given as it stands in an event. Half a surrogate pair
// at its end waits for the other half, which some providers send by itself.
func (d *PieceDecoder) Decode(value []byte) string {
	if value[0] != '"' {
		return string(value)
	}
	half := halfAtEnd(value[:len(value)-1])
	if half == 0 && len(d.half) == 0 {
		return TextOf(value)
	}
	whole := append(append([]byte{'"'}, d.half...), value[1:len(value)-1]...)
	end := len(whole) - halfAtEnd(whole)
	d.half = bytes.Clone(whole[end:])
	return TextOf(append(whole[:end], '"'))
}

// End returns what stands for half a character whose other half did not come.
func (d *PieceDecoder) End() string {
	if len(d.half) == 0 {
		return ""
	}
	d.half = nil
	return "\ufffd"
}

// halfAtEnd is the length of the escape that a string's text ends with if that
// is the first half of a surrogate pair, else 0.
func halfAtEnd(text []byte) int {
	at := max(0, len(text)-len(`\uD800`))
	r, size, whole := unicodeEscape(string(text[at:]))
	if !whole || size == 0 || !utf16.IsSurrogate(r) || r >= 0xDC00 {
		return 0
	}
	before := bytes.TrimRight(text[:at], `\`)
	if (at-len(before))%2 == 1 {
		return 0 // its backslash is one that another escapes
	}
	return size
}
