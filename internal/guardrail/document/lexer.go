package document

import (
	"unicode/utf16"
	"unicode/utf8"
)

// lexeme says what a character of JSON belongs to.
type lexeme uint8

const (
	punctuation lexeme = iota // brackets, quotes, commas, colons, white space
	stringText                // a string
	literalText               // a number, true, false, null
)

// lexer reads JSON character by character, where an escape is one character. It does not check the
// grammar: a character that it does not expect stands for itself. [jsonscan.Walk] cannot replace it:
// a text comes in pieces that end anywhere, must be decoded to be read, and need not be JSON.
type lexer struct {
	state lexerState
}

type lexerState uint8

const (
	atStart lexerState = iota
	betweenValues
	inString
	notJSON
)

// next returns the decoded first character of text and its size in bytes. The size is 0 if it
// depends on more text, which last excludes.
func (l *lexer) next(text string, last bool) (r rune, size int, kind lexeme) {
	r, size = rune(text[0]), 1
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRuneInString(text)
	}
	if l.state == atStart {
		switch r {
		case ' ', '\t', '\r', '\n':
			return r, size, punctuation
		case '{', '[', '"':
			l.state = betweenValues
		default:
			l.state = notJSON
		}
	}
	switch l.state {
	case betweenValues:
		switch r {
		case '"':
			l.state = inString
			return r, size, punctuation
		case '{', '}', '[', ']', ',', ':', ' ', '\t', '\r', '\n':
			return r, size, punctuation
		}
		return r, size, literalText
	case inString:
		switch r {
		case '"':
			l.state = betweenValues
			return r, size, punctuation
		case '\\':
			r, size = escape(text, last)
		}
	}
	return r, size, stringText
}

// escapes are the characters of the short escapes of RFC 8259 section 7.
var escapes = [utf8.RuneSelf]rune{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape decodes the escape at the start of text. Two escapes that form a surrogate pair are one.
// An invalid escape is a backslash.
func escape(text string, last bool) (r rune, size int) {
	if len(text) > 1 && text[1] < utf8.RuneSelf && escapes[text[1]] != 0 {
		return escapes[text[1]], 2
	}
	r, size, whole := unicodeEscape(text)
	switch {
	case !whole && !last:
		return 0, 0
	case size == 0 || !whole:
		return '\\', 1
	case !utf16.IsSurrogate(r):
		return r, size
	}
	low, more, whole := unicodeEscape(text[size:])
	if !whole && !last {
		return 0, 0
	}
	if pair := utf16.DecodeRune(r, low); whole && pair != utf8.RuneError {
		return pair, size + more
	}
	return utf8.RuneError, size
}

// unicodeEscape decodes the \uXXXX at the start of text. Its size is 0 if there is none. whole is
// false if the text ends inside what may be one.
func unicodeEscape(text string) (r rune, size int, whole bool) {
	const form = `\uXXXX`
	for i := range len(form) {
		if i == len(text) {
			return 0, 0, false
		}
		c := rune(text[i])
		switch {
		case i < 2:
			if c != rune(form[i]) {
				return 0, 0, true
			}
			continue
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, 0, true
		}
		r = r<<4 | c
	}
	return r, len(form), true
}
