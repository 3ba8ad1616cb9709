package keys

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// bounds are lists of patterns, of which a name must fit each. Without a list there is no bound.
type bounds []pattern.List

// boundsOf returns those of the lists that have a pattern.
func boundsOf(lists ...pattern.List) bounds {
	lists = slices.DeleteFunc(lists, func(l pattern.List) bool { return len(l) == 0 })
	if len(lists) == 0 {
		return nil
	}
	return lists
}

// own is the first list, that of the key itself.
func (b bounds) own() []string {
	if len(b) == 0 {
		return nil
	}
	return b[0]
}

func (b bounds) match(name string) bool {
	for _, list := range b {
		if !list.Match(name) {
			return false
		}
	}
	return true
}

// matchSome reports whether each list matches a name that begins with prefix.
func (b bounds) matchSome(prefix string) bool {
	return !slices.ContainsFunc(b, func(l pattern.List) bool { return !l.MatchesSome(prefix) })
}

// overlap reports whether each list and the pattern have a name in common.
func (b bounds) overlap(pattern string) bool {
	for _, list := range b {
		if !list.Overlaps(pattern) {
			return false
		}
	}
	return true
}
