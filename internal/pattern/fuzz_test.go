package pattern_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// FuzzMatch compares Match with the same pattern as an anchored regular expression.
func FuzzMatch(f *testing.F) {
	for _, seed := range [][2]string{
		{"*", ""}, {"gpt-*", "gpt-4o"}, {"*:free", "a/b:free"}, {"a*b*c", "abbc"}, {"*ab*ab*", "aabab"}, {"**x**", "x\n"}, {"ab*ba", "aba"}, {".*", "..."},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, p, name string) {
		if len(p) > pattern.MaxBytes || !utf8.ValidString(p) || !utf8.ValidString(name) {
			return // regexp reads runes; Valid refuses such patterns anyway
		}
		pieces := strings.Split(p, "*")
		for i, piece := range pieces {
			pieces[i] = regexp.QuoteMeta(piece)
		}
		want := regexp.MustCompile(`(?s)\A` + strings.Join(pieces, `.*`) + `\z`).MatchString(name)
		if got := pattern.Match(p, name); got != want {
			t.Errorf("Match(%q, %q) = %v, the expression says %v", p, name, got, want)
		}
		if pattern.IsExact(p) && pattern.Match(p, name) != (p == name) {
			t.Errorf("exact pattern %q matched %q", p, name)
		}
	})
}

// BenchmarkMatch uses a text that makes a backtracking matcher slow.
func BenchmarkMatch(b *testing.B) {
	p, name := strings.Repeat("*a", 100)+"*b", strings.Repeat("a", 10_000)
	for b.Loop() {
		pattern.Match(p, name)
	}
}
