package detect

import (
	"math"
	"regexp/syntax"
)

// maxBack bounds how far into a match the literal may stand that it is known
// by: as many characters of a stream may wait for it.
const maxBack = 64

// inner returns a literal that stands in every match, at most back characters
// behind its start. What comes before it, of the part that is reported, are
// characters of names, so that a blank or a quote ends the wait.
func inner(re *syntax.Regexp, group int) (literal string, back int, ok bool) {
	w := innerWalk{reported: group == 0}
	w.visit(re)
	return w.literal, w.width, w.literal != "" && w.width <= maxBack
}

type innerWalk struct {
	literal  string
	width    int
	reported bool // inside the group
}

// visit goes over an expression from the left. It is true when the search is
// over.
func (w *innerWalk) visit(re *syntax.Regexp) bool {
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

// widest is the length of the longest text that matches, or more than maxBack.
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

// ofNames tells whether an expression matches characters of names alone.
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

// isNameRune tells whether r is of the class [\w.~-].
func isNameRune(r rune) bool {
	return r < 128 && inWord(r) || r == '.' || r == '-' || r == '~'
}
