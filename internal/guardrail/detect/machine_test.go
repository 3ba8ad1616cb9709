package detect_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// patterns cover what makes leftmost-first matching hard: preference against length, later matches
// inside earlier ones, conditions on both sides.
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
	sets := map[int]ruleSet{}
	f.Fuzz(func(t *testing.T, n int, text string) {
		if n < 0 || n >= len(patterns) {
			return
		}
		if sets[n].rules == nil {
			sets[n] = redacting(usualWindow, must(detect.Regexp(patterns[n])))
		}
		text = strings.ToValidUTF8(text, "?")
		want := regexp.MustCompile(patterns[n]).ReplaceAllLiteralString(text, mark)
		if got := sets[n].whole(text); got != want {
			t.Errorf("%q in %q: got %q, want %q", patterns[n], text, got, want)
		}
	})
}
