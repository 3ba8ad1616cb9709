package guardrail_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
)

// redacting compiles one rule that redacts.
func redacting(t testing.TB, rule guardrail.Rule, window int) *guardrail.Set {
	t.Helper()
	rule.Action = guardrail.Redact
	return compiled(t, guardrail.Spec{Name: "test", Rules: []guardrail.Rule{rule}, Window: window})
}

func compiled(t testing.TB, specs ...guardrail.Spec) *guardrail.Set {
	t.Helper()
	var list []*guardrail.Guardrail
	for _, spec := range specs {
		g, err := guardrail.Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, g)
	}
	return guardrail.Join(list...)
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
	sets := map[int]*guardrail.Set{}
	f.Fuzz(func(t *testing.T, n int, text string) {
		if n < 0 || n >= len(patterns) {
			return
		}
		if sets[n] == nil {
			sets[n] = redacting(t, guardrail.Rule{Detector: guardrail.Regexp, Pattern: patterns[n]}, 0)
		}
		text = strings.ToValidUTF8(text, "?")
		want := regexp.MustCompile(patterns[n]).ReplaceAllLiteralString(text, "[REDACTED:pattern]")
		if got, _ := guardrail.Whole(sets[n], text); got != want {
			t.Errorf("%q in %q: got %q, want %q", patterns[n], text, got, want)
		}
	})
}
