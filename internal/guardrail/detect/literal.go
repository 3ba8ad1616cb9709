package detect

import (
	"regexp/syntax"
	"unicode/utf8"
)

const (
	// maxLiterals is how many prefixes of an expression are used, maxLiteral how long one is.
	maxLiterals = 64
	maxLiteral  = 24
)

// literals returns strings of which one begins every match, ignoring case. They are ASCII and have
// two characters or more. It returns nil if there are no such strings.
func literals(re *syntax.Regexp) []string {
	list, _ := prefixes(re)
	for _, s := range list {
		if len(s) < 2 {
			return nil
		}
	}
	return list
}

// prefixes returns strings of which one begins every match, and whether they are whole matches.
func prefixes(re *syntax.Regexp) (list []string, whole bool) {
	none := []string{""}
	switch re.Op {
	case syntax.OpLiteral:
		for i, r := range re.Rune {
			if r >= utf8.RuneSelf || i == maxLiteral {
				return []string{string(re.Rune[:i])}, false
			}
		}
		return []string{string(re.Rune)}, true
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i+1] >= utf8.RuneSelf || int(re.Rune[i+1]-re.Rune[i])+len(list) >= 8 {
				return none, false
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				list = append(list, string(r))
			}
		}
		return list, true
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return none, true
	case syntax.OpCapture:
		return prefixes(re.Sub[0])
	case syntax.OpPlus:
		list, _ = prefixes(re.Sub[0])
		return list, false
	case syntax.OpRepeat:
		if re.Min > 0 {
			list, _ = prefixes(re.Sub[0])
			return list, false
		}
	case syntax.OpQuest:
		list, whole = prefixes(re.Sub[0])
		return append(list, ""), whole
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			more, all := prefixes(sub)
			if list = append(list, more...); len(list) > maxLiterals {
				return none, false
			}
			whole = whole && all
		}
		return list, whole
	case syntax.OpConcat:
		list, whole = none, true
		for _, sub := range re.Sub {
			if !whole {
				break
			}
			more, all := prefixes(sub)
			joined, ok := join(list, more)
			if !ok {
				return list, false
			}
			list, whole = joined, all
		}
		return list, whole
	}
	return none, false
}

// join appends each of more to each of list. It returns false if the result exceeds a bound.
func join(list, more []string) (joined []string, ok bool) {
	if len(list)*len(more) > maxLiterals {
		return nil, false
	}
	for _, a := range list {
		for _, b := range more {
			if len(a)+len(b) > maxLiteral {
				return nil, false
			}
			joined = append(joined, a+b)
		}
	}
	return joined, true
}
