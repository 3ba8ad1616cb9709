package detect

import (
	"unicode"
	"unicode/utf8"
)

// byteOfCard says what a byte may be in a card number.
type byteOfCard uint8

const (
	notOfCard byteOfCard = iota
	dividerOfCard
	digitOfCard // or a part of a character outside ASCII, which may be a digit, a divider or invisible
)

var bytesOfCards = func() (of [256]byteOfCard) {
	for c := range of {
		switch {
		case isDigit(rune(c)) || c >= utf8.RuneSelf:
			of[c] = digitOfCard
		case divides(rune(c)):
			of[c] = dividerOfCard
		}
	}
	return of
}()

// cardRun returns the first run of bytes, from an index of a text on, that may contain a card
// number or begin one that more text continues. The run is empty and at the end of the text if
// there is none.
//
// A card number has at least 13 bytes, and of two adjacent ones at least one is a digit or outside
// ASCII. So where two bytes are neither, none begins at the eleven bytes before.
func cardRun(text string, at int) (from, to int) {
	mayBe := func(i int) bool { return bytesOfCards[text[i]] == digitOfCard }
	for at < len(text) {
		if last := at + minCard - 1; last < len(text) && !mayBe(last-1) && !mayBe(last) {
			at = last
			continue
		}
		if !mayBe(at) {
			at++
			continue
		}
		from, digits := at, 0
		for at < len(text) && (mayBe(at) || bytesOfCards[text[at]] == dividerOfCard && mayBe(at-1)) {
			if mayBeDigit(text, at) {
				digits++
			}
			at++
		}
		if digits >= minCard || at == len(text) {
			return from, at
		}
	}
	return at, at
}

// mayBeDigit reports whether a digit begins at an index of a text: one of ASCII, or a full-width
// one, from U+FF10 to U+FF19.
func mayBeDigit(text string, i int) bool {
	if c := text[i]; c != 0xef {
		return isDigit(rune(c))
	}
	return i+1 < len(text) && text[i+1] == 0xbc
}

// lastVisible returns the last character of a text that is not invisible, prev if there is none.
func lastVisible(text string, prev rune) rune {
	for len(text) > 0 {
		r, size := utf8.DecodeLastRuneInString(text)
		if !mayBeHidden(r) || !unicode.Is(ignorables, r) {
			return narrow(r)
		}
		text = text[:len(text)-size]
	}
	return prev
}

// narrow returns the ASCII digit for a full-width one.
func narrow(r rune) rune {
	if '０' <= r && r <= '９' {
		r -= '０' - '0'
	}
	return r
}
