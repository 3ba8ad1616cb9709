package detect_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

func TestPatternsThatMatchNothingAreRefused(t *testing.T) {
	for _, pattern := range []string{
		``, `a*`, `a?`, `a{0}`, `x{0}`, `a{0,2}`, `(?:ab){0}`, `(a*)`, `(a*)+`, `(?:a*){2}`, `a*b*`, `a|b*`, `b*|a`, `a|`, `^`, `$`, `\b`, `\B`, `\z`, `(|a)`, `a*?`,
	} {
		if _, err := detect.Regexp(pattern); err == nil || !strings.Contains(err.Error(), "empty text") {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	for _, pattern := range []string{
		`a`, `a+`, `a{1}`, `a{2,}`, `(a)`, `(a)+`, `a*b`, `ba*`, `^a`, `a|b`, `.`, `(?s).`, `[ab]`, `[^\x00-\x{10FFFF}]`, `(?:a|b){2}`, `a*bc*`,
	} {
		if _, err := detect.Regexp(pattern); err != nil {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

// A compiled pattern has an instruction for each letter, and two more.
func TestPatternsHaveAtMost10000Steps(t *testing.T) {
	if _, err := detect.Regexp(strings.Repeat("a", 9998)); err != nil {
		t.Error(err)
	}
	if _, err := detect.Regexp(strings.Repeat("a", 9999)); err == nil || !strings.Contains(err.Error(), "10001 steps for each character, the limit is 10000") {
		t.Errorf("one more: %v", err)
	}
}

// A match may begin with a character outside ASCII, also with one that only folds to ASCII.
func TestPatternsBeginWithAnyCharacter(t *testing.T) {
	for pattern, text := range map[string]string{
		`(?i)kilo`: "\u212ailo", `(?i)stop`: "\u017ftop", `.x`: "éx", `(?s).x`: "éx", `\n?y`: "y", `[^a]z`: "éz", `[\x80]x`: "\u0080x", `[\x7f]x`: "\x7fx", `é`: "é",
	} {
		if got := redacting(usualWindow, must(detect.Regexp(pattern))).whole(text); got != mark {
			t.Errorf("%s in %q: got %q", pattern, text, got)
		}
	}
	if got := redacting(usualWindow, must(detect.Regexp(`kilo`))).whole("\u212ailo"); got != "\u212ailo" {
		t.Errorf("case is ignored: %q", got)
	}
}
