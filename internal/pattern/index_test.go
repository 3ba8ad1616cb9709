package pattern_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

func TestAnIndexFindsWhatTryingAllFinds(t *testing.T) {
	patterns := []string{"a/x", "a/*", "b/*", "*", "a/x", "*x", "b/y", "a*x", "c"}
	for n := range len(patterns) + 1 {
		var index pattern.Index
		for _, p := range patterns[:n] {
			index.Add(p)
		}
		for _, name := range []string{"a/x", "a/y", "b/y", "c", "", "d/x", "a/*"} {
			var want []int
			for i, p := range patterns[:n] {
				if pattern.Match(p, name) {
					want = append(want, i)
				}
			}
			if got := slices.Collect(index.Matching(name)); !slices.Equal(got, want) {
				t.Errorf("%q among %q: %v, want %v", name, patterns[:n], got, want)
			}
			for got := range index.Matching(name) {
				if got != want[0] {
					t.Errorf("%q among %q: the first is %d, want %d", name, patterns[:n], got, want[0])
				}
				break
			}
		}
	}
}
