package pattern_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

func TestPatternsOverlapWhereANameFitsBoth(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"openai/gpt-4o", "openai/gpt-4o", true},
		{"openai/gpt-4o", "openai/o3", false},
		{"openai/gpt-4o", "openai/*", true},
		{"openai/gpt-4o", "acme/*", false},
		{"openai/*", "*", true},
		{"openai/*", "openai/gpt-*", true},
		{"openai/*", "acme/*", false},
		{"*:free", "openai/*", true},
		{"*:free", "*:batch", false},
		{"*-mini", "openai/gpt-*", true},
		{"a*b*c", "a*d*c", true},
		{"ab*", "a*c", true}, // abc
		{"*", "*", true},
	} {
		if pattern.Overlap(c.a, c.b) != c.want || pattern.Overlap(c.b, c.a) != c.want {
			t.Errorf("%q and %q: want %v", c.a, c.b, c.want)
		}
	}
	if l := (pattern.List{"acme/*", "*:free"}); !l.Overlaps("openai/*") || l.Overlaps("openai/o3") || (pattern.List{}).Overlaps("*") {
		t.Error("a list")
	}
}

// FuzzOverlap: a name that fits both patterns is proof that they overlap.
func FuzzOverlap(f *testing.F) {
	f.Add("a*b", "*ab", "aab")
	f.Add("*", "x*", "x")
	f.Fuzz(func(t *testing.T, a, b, name string) {
		if pattern.Match(a, name) && pattern.Match(b, name) && !pattern.Overlap(a, b) {
			t.Errorf("%q fits %q and %q", name, a, b)
		}
	})
}
