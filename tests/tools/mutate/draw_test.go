package main

import (
	"slices"
	"testing"
)

// numberedSites returns sites with one, two, one, two … mutants. A mutant's line is its site.
func numberedSites(n int) (sites []site) {
	for i := range n {
		s := site{{line: i, text: "first"}}
		if i%2 == 1 {
			s = append(s, mutant{line: i, text: "second"})
		}
		sites = append(sites, s)
	}
	return sites
}

func TestEachSiteIsDrawnOnceBeforeAnyIsDrawnTwice(t *testing.T) {
	const n = 50
	drawn := draw(numberedSites(n), 1)
	if len(drawn) != n+n/2 {
		t.Fatalf("%d mutants, want %d", len(drawn), n+n/2)
	}
	seen := map[int]int{}
	seconds := 0
	for i, m := range drawn {
		if seen[m.line]++; i < n && seen[m.line] > 1 {
			t.Errorf("site %d is drawn twice among the first %d", m.line, n)
		}
		if i < n && m.text == "second" {
			seconds++
		}
	}
	if seconds == 0 || seconds == n/2 {
		t.Errorf("of %d sites with two mutants the second came first %d times", n/2, seconds)
	}
}

func TestASeedAlwaysDrawsTheSame(t *testing.T) {
	a, b, c := draw(numberedSites(50), 1), draw(numberedSites(50), 1), draw(numberedSites(50), 2)
	if !slices.Equal(a, b) {
		t.Error("one seed, two orders")
	}
	if slices.Equal(a, c) {
		t.Error("two seeds, one order")
	}
}
