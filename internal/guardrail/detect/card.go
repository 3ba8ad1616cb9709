package detect

import (
	"math"
	"unicode"
	"unicode/utf8"
)

const (
	// minCard and maxCard are how many digits a card number has (ISO/IEC 7812-1 and the ranges in
	// use).
	minCard = 13
	maxCard = 19

	// minGroup is the least length of a group of digits in a number written in groups: 4-4-4-4,
	// 4-6-5 and 4-6-4 are in use. Without it, tables of small numbers would contain card numbers.
	minGroup = 3
)

// issuers are the ranges of first digits that are in use for payment cards, as the schemes publish
// them, with the lengths in use.
var issuers = []struct{ from, to, digits, min, max int }{
	{4, 4, 1, 13, 19},       // Visa
	{51, 55, 2, 16, 16},     // Mastercard
	{2221, 2720, 4, 16, 16}, // Mastercard
	{34, 34, 2, 15, 15},     // American Express
	{37, 37, 2, 15, 15},     // American Express
	{6011, 6011, 4, 16, 19}, // Discover
	{644, 659, 3, 16, 19},   // Discover, RuPay
	{300, 305, 3, 14, 19},   // Diners Club
	{3095, 3095, 4, 14, 19}, // Diners Club
	{36, 36, 2, 14, 19},     // Diners Club
	{38, 39, 2, 14, 19},     // Diners Club
	{3528, 3589, 4, 16, 19}, // JCB
	{62, 62, 2, 16, 19},     // UnionPay
	{81, 82, 2, 16, 19},     // UnionPay, RuPay
	{2200, 2204, 4, 16, 19}, // Mir
	{508, 508, 3, 16, 16},   // RuPay
	{5018, 5018, 4, 13, 19}, // Maestro
	{5020, 5020, 4, 13, 19}, // Maestro
	{5038, 5038, 4, 13, 19}, // Maestro
	{5893, 5893, 4, 13, 19}, // Maestro
	{6304, 6304, 4, 13, 19}, // Maestro
	{6759, 6763, 4, 13, 19}, // Maestro
	{9792, 9792, 4, 16, 16}, // Troy
}

// isCard reports whether digits are the number of a payment card.
func isCard(digits []byte) bool {
	for _, issuer := range issuers {
		if len(digits) < issuer.min || len(digits) > issuer.max {
			continue
		}
		first := 0
		for _, d := range digits[:issuer.digits] {
			first = first*10 + int(d)
		}
		if issuer.from <= first && first <= issuer.to {
			return luhn(digits)
		}
	}
	return false
}

// luhn checks the check digit (ISO/IEC 7812-1, annex B).
func luhn(digits []byte) bool {
	sum := 0
	for i := range digits {
		d := int(digits[len(digits)-1-i])
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// group is a run of digits.
type group struct {
	start, end, digits int
	fraction           bool // it follows a point that follows a digit
}

// cardScanner is the [scanner] of payment card numbers: 13 to 19 digits, in one group or in several
// with one blank or dash between two, and no letter beside them. Wider gaps are those of a table.
// Digits after a point are a fraction; the group after that may begin a number again.
type cardScanner struct {
	groups []group // separated by one divider each; at most maxCard digits in all
	digits []byte  // of all groups
	prev   rune    // the last character, -1 for none
	before rune    // the one before it, -1 for none
	ignore bool    // the current run of digits is no part of a card number
}

func newCardScanner() *cardScanner { return &cardScanner{prev: -1, before: -1} }

func (s *cardScanner) reset() { s.drop(len(s.groups)); s.prev, s.before, s.ignore = -1, -1, false }

func (s *cardScanner) scan(piece string, pos int, hits *hitList) {
	prev, before := s.prev, s.before
	for at, end := 0, 0; at < len(piece); {
		if at >= end && len(s.groups) == 0 && !isDigit(prev) { // nothing has begun
			var from int
			if from, end = cardRun(piece, at); from > at {
				before = lastVisible(piece[at:from-1], prev)
				prev = rune(piece[from-1]) // in ASCII, or it would be in the run
				pos += runeCount(piece[at:from])
				at = from
				continue
			}
		}
		r, size := rune(piece[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(piece[at:])
		}
		at += size
		if mayBeHidden(r) {
			if unicode.Is(ignorables, r) {
				pos++
				continue
			}
			r = narrow(r)
		}
		switch {
		case isDigit(r):
			if !isDigit(prev) {
				s.open(prev, before, pos)
			}
			s.digit(byte(r-'0'), pos)
		case isDigit(prev):
			s.close(r, pos, hits)
		case len(s.groups) > 0:
			s.drop(len(s.groups))
		}
		before, prev = prev, r
		pos++
	}
	s.prev, s.before = prev, before
}

func (s *cardScanner) end(pos int, hits *hitList) {
	if isDigit(s.prev) {
		s.close(-1, pos, hits)
	}
}

func (s *cardScanner) hold(int) int {
	if len(s.groups) == 0 {
		return math.MaxInt
	}
	return s.groups[0].start
}

// open begins a group, unless digits after these two characters are no part of a card number.
func (s *cardScanner) open(prev, before rune, pos int) {
	if s.ignore = joinsWord(prev); s.ignore {
		s.drop(len(s.groups))
		return
	}
	s.groups = append(s.groups, group{start: pos, end: pos, fraction: prev == '.' && isDigit(before)})
}

// digit adds the next digit to the group.
func (s *cardScanner) digit(d byte, pos int) {
	if s.ignore {
		return
	}
	s.digits = append(s.digits, d)
	last := &s.groups[len(s.groups)-1]
	last.end, last.digits = pos+1, last.digits+1
	for len(s.groups) > 1 && len(s.digits) > maxCard {
		s.drop(1)
	}
	if len(s.digits) > maxCard {
		s.drop(1)
		s.ignore = true
	}
}

// close ends a group before r, the character at pos, and checks the numbers that end there.
func (s *cardScanner) close(r rune, pos int, hits *hitList) {
	if s.ignore {
		return
	}
	last := s.groups[len(s.groups)-1]
	if joinsWord(r) || last.digits < minGroup {
		s.drop(len(s.groups))
		return
	}
	digits := s.digits
	for i, g := range s.groups {
		decimals := g.fraction && i >= len(s.groups)-2
		if len(digits) >= minCard && !decimals && isCard(digits) {
			hits.add(g.start, last.end, pos+1)
			break // shorter ones lie within it
		}
		digits = digits[g.digits:]
	}
	if !divides(r) {
		s.drop(len(s.groups))
	}
}

// drop forgets the first n groups.
func (s *cardScanner) drop(n int) {
	if n == len(s.groups) {
		s.groups, s.digits = s.groups[:0], s.digits[:0]
		return
	}
	for _, g := range s.groups[:n] {
		s.digits = s.digits[:copy(s.digits, s.digits[g.digits:])]
	}
	s.groups = s.groups[:copy(s.groups, s.groups[n:])]
}

// divides reports whether r may separate two groups: blanks and dashes of all kinds and the minus
// sign do, line ends and tabs do not.
func divides(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || r == '-'
	}
	return r == '\u2212' || unicode.In(r, unicode.Zs, unicode.Pd)
}

// joinsWord reports whether digits beside r are part of a word. An underscore is no reason: names
// are built with it.
func joinsWord(r rune) bool { return r >= 0 && r != '_' && inWord(r) }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }
