package translate

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Decoded returns a quoted text as text. It is "" for anything else.
func Decoded(quoted []byte) string {
	text, _ := jsonscan.String(quoted)
	return text
}

// Joined returns quoted texts as one, with line ends between those that are not empty.
func Joined(texts ...[]byte) []byte {
	out := []byte{'"'}
	for _, quoted := range texts {
		text, some := Unquoted(quoted)
		if some && len(out) > 1 {
			out = append(out, `\n`...)
		}
		out = append(out, text...)
	}
	return append(out, '"')
}

// Unquoted returns a JSON string without its quotes, escapes as written. It is false for any other
// value and for an empty string.
func Unquoted(value []byte) (text []byte, ok bool) {
	if len(value) <= len(`""`) || value[0] != '"' {
		return nil, false
	}
	return value[1 : len(value)-1], true
}

// Surrogates joins escaped surrogate pairs that a provider cut between two pieces of a text. A
// client that decodes the pieces one by one could not join them.
type Surrogates struct {
	half []byte // the escape of a high surrogate that waits for the next piece
}

// Next returns a piece of text, JSON without quotes, with the half that waited for it, and holds
// back a half at its end.
func (s *Surrogates) Next(piece []byte) []byte {
	if len(s.half) > 0 {
		piece = append(s.half, piece...)
		s.half = nil
	}
	if cut := len(piece) - halfAtEnd(piece); cut < len(piece) {
		s.half = bytes.Clone(piece[cut:])
		piece = piece[:cut]
	}
	return piece
}

// Rest returns what replaces a half that stayed alone at the end of the text, nil for none.
func (s *Surrogates) Rest() []byte {
	if len(s.half) == 0 {
		return nil
	}
	s.half = nil
	return []byte(`\ufffd`)
}

// halfAtEnd returns the length of the escaped high surrogate at the end of text; 0 if there is
// none.
func halfAtEnd(text []byte) int {
	at := len(text) - len(`\ud800`)
	if at < 0 || text[at] != '\\' || text[at+1] != 'u' || text[at+2]|0x20 != 'd' {
		return 0
	}
	if c := text[at+3] | 0x20; c != '8' && c != '9' && c != 'a' && c != 'b' {
		return 0
	}
	before := 0
	for before < at && text[at-1-before] == '\\' {
		before++
	}
	if before%2 == 1 { // the backslash itself is escaped
		return 0
	}
	return len(text) - at
}
