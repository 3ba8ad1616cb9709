package document

import (
	"bytes"
	"strings"
	"unicode/utf16"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// TextOf returns the text of a valid JSON string, or the JSON of another value.
func TextOf(value []byte) string {
	if value[0] != '"' {
		return string(value)
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var short [256]byte
	return string(jsonscan.AppendText(short[:0], inner))
}

// IsText reports whether a JSON value is a string that holds a text.
func IsText(value []byte, text string) bool {
	if value[0] != '"' {
		return false
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == text
	}
	return TextOf(value) == text
}

// PieceDecoder decodes a text that comes in pieces, each of which is a JSON value.
type PieceDecoder struct {
	half []byte // the escape of half a surrogate pair, waiting for the other half
}

// Decode returns the text of the next piece. Half a surrogate pair at its end is kept for the next
// piece, because some providers split pairs.
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

// Append appends the text of the next piece to that of others. A usual piece is copied once.
func (d *PieceDecoder) Append(text *strings.Builder, value []byte) {
	if value[0] == '"' && len(d.half) == 0 && bytes.IndexByte(value, '\\') < 0 {
		text.Write(value[1 : len(value)-1])
		return
	}
	text.WriteString(d.Decode(value))
}

// End returns the replacement character if the other half of a surrogate pair did not come.
func (d *PieceDecoder) End() string {
	if len(d.half) == 0 {
		return ""
	}
	d.half = nil
	return "\ufffd"
}

// halfAtEnd returns the length of an escape at the end of the content of a string that is the first
// half of a surrogate pair, else 0.
func halfAtEnd(text []byte) int {
	at := max(0, len(text)-len(`\uD800`))
	r, size, whole := unicodeEscape(string(text[at:]))
	if !whole || size == 0 || !utf16.IsSurrogate(r) || r >= 0xDC00 {
		return 0
	}
	before := bytes.TrimRight(text[:at], `\`)
	if (at-len(before))%2 == 1 {
		return 0 // the backslash is itself escaped
	}
	return size
}
