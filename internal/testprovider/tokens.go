package testprovider

import "unicode"

const (
	// maxTokenRunes bounds a token, so that text without spaces streams in pieces too.
	maxTokenRunes = 32
	// MaxOutputTokens bounds a reply (to 2 MiB, as a rune has at most 4 bytes): what
	// a large prompt asks back is kept in memory once for each of its choices.
	MaxOutputTokens = 16384
)

// nextToken splits off the first token of s: a word with the white space before it,
// at most maxTokenRunes long. Tokens joined are the text again.
func nextToken(s string) (token, rest string) {
	runes, word := 0, false
	for i, r := range s {
		space := unicode.IsSpace(r)
		if runes == maxTokenRunes || word && space {
			return s[:i], s[i:]
		}
		word = word || !space
		runes++
	}
	return s, ""
}

// CountTokens returns how many tokens a text has.
func CountTokens(s string) (n int) {
	for s != "" {
		_, s = nextToken(s)
		n++
	}
	return n
}

// splitTokens returns the first limit tokens of s and whether more followed.
func splitTokens(s string, limit int) (tokens []string, cut bool) {
	var token string
	for s != "" && len(tokens) < limit {
		token, s = nextToken(s)
		tokens = append(tokens, token)
	}
	return tokens, s != ""
}
