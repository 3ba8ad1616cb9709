package guard_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guard"
)

// redacting compiles one rule that redacts.
func redacting(t testing.TB, rule guard.Rule, window int) *guard.Set {
	t.Helper()
	rule.Action = guard.Redact
	return compiled(t, guard.Spec{Name: "test", Rules: []guard.Rule{rule}, Window: window})
}

func compiled(t testing.TB, specs ...guard.Spec) *guard.Set {
	t.Helper()
	var list []*guard.Guardrail
	for _, spec := range specs {
		g, err := guard.Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, g)
	}
	return guard.Join(list...)
}

// patterns differ in what makes leftmost-first matching hard: preference
// against length, later finds inside earlier ones, conditions on both sides.
var patterns = []string{
	`a`, `ab|ba`, `a+`, `a+?`, `a+?b`, `abc+x|ab`, `ab|abc+x`, `a.*b`, `a.*?b`, `x*y|x`, `\bab\b`, `^a+`, `b$`, `(?m)^b.$`,
	`(?i)k+s`, `[^a]b`, `(a|ab)(c|bcd)`, `a{2,3}`, `(?s)a.b`, `\Ba\B`, `é+`, `a\z`, `(?:ab?)+c|b`, `aXXb|a`,
}

func FuzzPatternsFindWhatRegexpFinds(f *testing.F) {
	for i := range patterns {
		for _, text := range []string{"", "abababab", "aaaa", "xxxxxx", "abccccx abcc", "a b\nab cb", "bab aab\nbb", "KſkS éé", "abcd abc"} {
			f.Add(i, text)
		}
	}
	sets := map[int]*guard.Set{}
	f.Fuzz(func(t *testing.T, n int, text string) {
		if n < 0 || n >= len(patterns) {
			return
		}
		if sets[n] == nil {
			sets[n] = redacting(t, guard.Rule{Detector: guard.Regexp, Pattern: patterns[n]}, 0)
		}
		text = strings.ToValidUTF8(text, "?")
		want := regexp.MustCompile(patterns[n]).ReplaceAllLiteralString(text, "[REDACTED:pattern]")
		if got, _ := guard.Whole(sets[n], text); got != want {
			t.Errorf("%q in %q: got %q, want %q", patterns[n], text, got, want)
		}
	})
}
