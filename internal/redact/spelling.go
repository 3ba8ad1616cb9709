package redact

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSpellings is how many times over a text of JSON is read: JSON may stand in its strings.
const maxSpellings = 4

// Guessed returns those of a server's secrets that its caller has sent, with or without the escapes of JSON.
// They are not to be removed from what the server says: a right guess would look different from a wrong one.
func Guessed(secrets []string, sent ...[]byte) (guessed []string) {
	for _, secret := range secrets {
		if slices.ContainsFunc(sent, func(text []byte) bool { return spells(text, secret) }) {
			guessed = append(guessed, secret)
		}
	}
	return guessed
}

// spells reports whether a text has a secret in any spelling.
func spells(text []byte, secret string) bool {
	if len(secret) < minSecret {
		return false
	}
	for range maxSpellings {
		if bytes.Contains(text, []byte(secret)) {
			return true
		}
		if !mayRespell(text, secret) {
			return false
		}
		text = unescape(text, nil)
	}
	return false
}

// mayRespell reports whether escapes in a text may be characters of a secret.
func mayRespell(text []byte, secret string) bool {
	return bytes.Contains(text, []byte(`\u00`)) || bytes.Contains(text, []byte(`\/`)) || strings.ContainsAny(secret, `"\`) && bytes.IndexByte(text, '\\') >= 0
}

// withoutSpellings returns text without the spellings of a secret with escapes. It is text itself if that
// has none.
func withoutSpellings(text []byte, secret string) []byte {
	if !spells(text, secret) {
		return text
	}
	at := make([]int, len(text)+1) // where each byte of a spelling begins in the text
	for i := range at {
		at[i] = i
	}
	for spelling := text; len(spelling) > 0; {
		if found := bytes.Index(spelling, []byte(secret)); found >= 0 {
			text = slices.Concat(text[:at[found]], []byte(Mark), text[at[found+len(secret)]:])
			return withoutSpellings(text, secret)
		}
		starts := make([]int, 0, len(spelling)+1)
		spelling = unescape(spelling, &starts)
		for i, start := range starts {
			starts[i] = at[start]
		}
		at = starts
	}
	return text
}

// unescape decodes the escapes of JSON in a text, of which a part need not be JSON. A quote that is not
// escaped becomes NUL: what it separates is no one text. Starts gets where each byte begins, and the end.
func unescape(text []byte, starts *[]int) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		size, before := 1, len(out)
		switch c := text[i]; {
		case c == '"':
			out = append(out, 0)
		case c != '\\' || i+1 == len(text):
			out = append(out, c)
		case text[i+1] == 'u' && i+6 <= len(text):
			n, err := strconv.ParseUint(string(text[i+2:i+6]), 16, 16)
			if size = 6; err != nil {
				n, size = '\\', 1
			}
			out = utf8.AppendRune(out, rune(n))
		default:
			size = 2
			out = append(out, text[i+1]) // of no other escape a secret has the character
		}
		for range len(out) - before {
			if starts != nil {
				*starts = append(*starts, i)
			}
		}
		i += size
	}
	if starts != nil {
		*starts = append(*starts, len(text))
	}
	return out
}
