package detect

import (
	"math"
	"regexp/syntax"
)

// maxBack is how many characters may come before the inner literal of a match. A stream may have to
// hold that many back.
const maxBack = 64

// innerLiteral returns a string that every match contains, at most back characters after its start.
// The part to report has only characters of names before it, so that a stream need not hold text
// back after a blank or a quote.
func innerLiteral(re *syntax.Regexp, group int) (literal string, back int, ok bool) {
	w := literalSearch{reported: group == 0}
	w.visit(re)
	return w.literal, w.width, w.literal != "" && w.width <= maxBack
}

type literalSearch struct {
	literal  string
	width    int
	reported bool // inside the group to report
}

// visit reads an expression from the left. It returns true when the search is over.
func (w *literalSearch) visit(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if w.visit(sub) {
				return true
			}
		}
		return false
	case syntax.OpCapture:
		w.reported = true
		return w.visit(re.Sub[0])
	case syntax.OpLiteral:
		if list, _ := prefixes(re); len(list[0]) >= 2 {
			w.literal = list[0]
			return true
		}
	}
	w.width += widest(re)
	return w.width > maxBack || w.reported && !ofNames(re)
}

// widest returns the length of the longest match, or a number above maxBack.
func widest(re *syntax.Regexp) int {
	n := 0
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		n = 1
	case syntax.OpCapture, syntax.OpQuest:
		n = widest(re.Sub[0])
	case syntax.OpRepeat:
		if n = math.MaxInt16; re.Max >= 0 && re.Max <= maxBack {
			n = re.Max * widest(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			n += widest(sub)
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			n = max(n, widest(sub))
		}
	default:
		n = math.MaxInt16
	}
	return min(n, math.MaxInt16)
}

// ofNames reports whether an expression matches only characters of names.
func ofNames(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if !isNameRune(r) {
				return false
			}
		}
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i+1] >= 128 {
				return false
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if !isNameRune(r) {
					return false
				}
			}
		}
	}
	for _, sub := range re.Sub {
		if !ofNames(sub) {
			return false
		}
	}
	return true
}

// isNameRune reports whether r is in the class [\w.~-].
func isNameRune(r rune) bool {
	return r < 128 && inWord(r) || r == '.' || r == '-' || r == '~'
}
