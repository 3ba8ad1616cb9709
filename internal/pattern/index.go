package pattern

import "iter"

// Index finds the patterns that a name fits, among many. Most patterns of a large configuration are
// the name of one model, so only those with a star are tried one by one. The zero value is empty.
type Index struct {
	exact   map[string][]int
	starred []numbered
	size    int
}

type numbered struct {
	pattern string
	number  int
}

// Add appends a pattern; the first one has the number 0.
func (x *Index) Add(pattern string) {
	if IsExact(pattern) {
		if x.exact == nil {
			x.exact = make(map[string][]int)
		}
		x.exact[pattern] = append(x.exact[pattern], x.size)
	} else {
		x.starred = append(x.starred, numbered{pattern, x.size})
	}
	x.size++
}

// Matching yields the numbers of the patterns that name fits, in ascending order.
func (x *Index) Matching(name string) iter.Seq[int] {
	return func(yield func(int) bool) {
		exact := x.exact[name]
		for _, p := range x.starred {
			if !Match(p.pattern, name) {
				continue
			}
			for len(exact) > 0 && exact[0] < p.number {
				if !yield(exact[0]) {
					return
				}
				exact = exact[1:]
			}
			if !yield(p.number) {
				return
			}
		}
		for _, number := range exact {
			if !yield(number) {
				return
			}
		}
	}
}
