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

// cardRun returns the first run of bytes, from an index of a text on, that may contain a card number
// or begin one that more text continues. The run is empty and at the end of the text if there is
// none.
//
// A card number has at least 13 bytes, and of two adjacent ones at least one is a digit or outside
// ASCII. So where two bytes are neither, none begins at the eleven bytes before.
func cardRun(text string, at int) (from, to int) {
	for {
		probe := at + minCard - 2
		for probe+1 < len(text) && bytesOfCards[text[probe]] != digitOfCard && bytesOfCards[text[probe+1]] != digitOfCard {
			probe += minCard - 1
		}
		if probe+1 >= len(text) {
			return lastCardRun(text, max(at, probe-(minCard-2)))
		}
		at = max(at, probe-(minCard-2))
		if bytesOfCards[text[probe]] != digitOfCard {
			probe++
		}
		from = startOfRun(text, at, probe)
		digits := 0
		for i := from; ; i++ {
			if i == len(text) {
				return from, i
			}
			kind := bytesOfCards[text[i]]
			if kind == notOfCard || kind == dividerOfCard && i > from && bytesOfCards[text[i-1]] == dividerOfCard {
				to = i
				break
			}
			if mayBeDigit(text, i) {
				digits++
			}
		}
		if digits >= minCard {
			return from, to
		}
		at = to
	}
}

// startOfRun returns the first index, not before at, from which a digit at an index may be in a card
// number.
func startOfRun(text string, at, digit int) int {
	for i := digit - 1; i >= at; i-- {
		if kind := bytesOfCards[text[i]]; kind == notOfCard || kind == dividerOfCard && bytesOfCards[text[i+1]] == dividerOfCard {
			break
		} else if kind == digitOfCard {
			digit = i
		}
	}
	return digit
}

// lastCardRun returns the run at the end of a text, none of which is longer than a card number.
func lastCardRun(text string, at int) (from, to int) {
	last := len(text) - 1
	if last > at && bytesOfCards[text[last]] == dividerOfCard {
		last--
	}
	if last < at || bytesOfCards[text[last]] != digitOfCard {
		return len(text), len(text)
	}
	return startOfRun(text, at, last), len(text)
}

// mayBeDigit reports whether a digit begins at an index of a text: one of ASCII, or a full-width one,
// from U+FF10 to U+FF19.
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
