package house

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestTheShapeOfTheCode fails for nothing. It prints what is near to its bound, one line each, and a
// page in Markdown to compare with a later one:
//
//	go test ./tests/house -run ShapeOfTheCode -v
func TestTheShapeOfTheCode(t *testing.T) {
	goFiles(t)
	all := repositoryFigures()
	for _, line := range all.near() {
		t.Log("warning: " + line)
	}
	t.Log("\n" + all.page() + fanOut(repository.imports(), 7))
}

// near lists the figures that come close to their bounds. A bound is no target: what is near to it
// is split with the next change, and not at the last moment.
func (all figures) near() (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if size, bound := all[name].size, bound(name); 0 < size && size <= bound && size*5 >= bound*4 {
			lines = append(lines, fmt.Sprintf("%s: %d of %d", name, size, bound))
		}
	}
	return lines
}

// page has the knots, and the heaps at the bounds.
func (all figures) page() string {
	var page strings.Builder
	line := func(format string, values ...any) { fmt.Fprintf(&page, format+"\n", values...) }
	line("| package | knot | types |\n|---|---|---|")
	for _, name := range all.knots(3) {
		line("| %s | %d | %s |", strings.TrimSuffix(name, ": knot"), all[name].size, all[name].has)
	}
	line("\n| bound | at it | one below | above | tests: at it | one below | above |\n|---|---|---|---|---|---|---|")
	for _, what := range slices.Sorted(maps.Keys(bounds)) {
		heaps := [2][3]int{}
		for name, f := range all {
			if strings.HasSuffix(name, ": "+what) {
				heap := &heaps[0]
				if f.test {
					heap = &heaps[1]
				}
				switch over := f.size - bounds[what]; {
				case over == 0:
					heap[0]++
				case over == -1:
					heap[1]++
				case over > 0:
					heap[2]++
				}
			}
		}
		product, tests := heaps[0], heaps[1]
		line("| %d %s | %d | %d | %d | %d | %d | %d |", bounds[what], what,
			product[0], product[1], product[2], tests[0], tests[1], tests[2])
	}
	return page.String()
}

// fanOut has the packages that import at least as many of ours as said, the composers too.
func fanOut(imported map[string]map[string]bool, least int) string {
	names := slices.SortedFunc(maps.Keys(imported), func(a, b string) int {
		return cmp.Or(len(imported[b])-len(imported[a]), cmp.Compare(a, b))
	})
	page := "\n| package | imports packages of ours |\n|---|---|\n"
	for _, name := range names {
		if n := len(imported[name]); n >= least {
			page += fmt.Sprintf("| %s | %d |\n", name, n)
		}
	}
	return page
}

// knots are the names of the packages with a knot of at least a size, the largest first.
func (all figures) knots(least int) (names []string) {
	for name, f := range all {
		if strings.HasSuffix(name, ": knot") && f.size >= least {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(all[b].size-all[a].size, cmp.Compare(a, b))
	})
	return names
}
