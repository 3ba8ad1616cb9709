package detect

import "regexp/syntax"

// reportedGroup returns the group of a rule that holds the secret, in the form of [program]. It is
// the group that the rule names, else the first that takes part in the match. A group that repeats
// holds only its last repetition, so then the whole match is reported.
func reportedGroup(re *syntax.Regexp, named int) int {
	groups, repeated := 0, false
	var visit func(re *syntax.Regexp, inside bool)
	visit = func(re *syntax.Regexp, inside bool) {
		switch re.Op {
		case syntax.OpCapture:
			groups++
			repeated = repeated || inside
		case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
			inside = true
		}
		for _, sub := range re.Sub {
			visit(sub, inside)
		}
	}
	visit(re, false)
	switch {
	case named > 0:
		return named
	case groups == 0 || repeated:
		return 0
	}
	return -1
}
