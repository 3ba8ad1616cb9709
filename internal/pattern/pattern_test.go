package pattern_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

func TestMatch(t *testing.T) {
	for _, tc := range []struct {
		pattern, name string
		want          bool
	}{
		{"gpt-4o", "gpt-4o", true},
		{"gpt-4o", "gpt-4o-mini", false},
		{"gpt-4o", "GPT-4o", false},
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "anthropic/x:free", true},
		{"**", "anything", true},
		{"gpt-*", "gpt-", true},
		{"gpt-*", "gpt-4o", true},
		{"gpt-*", "chatgpt-4o", false},
		{"openai/*", "openai/a/b:c", true},
		{"openai/*", "openai", false},
		{"*:free", "anthropic/x:free", true},
		{"*:free", "anthropic/x:freely", false},
		{"*claude*", "anthropic/claude-3:beta", true},
		{"*claude*", "anthropic/claud", false},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-c-b", false},
		{"ab*ba", "aba", false},
		{"ab*ba", "abba", true},
		{"*ab*ab", "ab", false},
		{"*ab*ab", "abab", true},
		{"gpt-?", "gpt-4", false},
		{"gpt-[4]", "gpt-4", false},
	} {
		if got := pattern.Match(tc.pattern, tc.name); got != tc.want {
			t.Errorf("Match(%q, %q) = %v, want %v", tc.pattern, tc.name, got, tc.want)
		}
	}
}

func TestMatchesSome(t *testing.T) {
	for _, tc := range []struct {
		pattern, prefix string
		want            bool
	}{
		{"good/m", "good/", true},
		{"good/m", "bad/", false},
		{"good/m", "good/m/", false},
		{"good", "good/", false},
		{"good/*", "good/", true},
		{"good/*", "go/", false},
		{"good/gpt-*:free", "good/", true},
		{"go*", "good/", true},
		{"go*", "bad/", false},
		{"*/m", "good/", true},
		{"*", "good/", true},
	} {
		if got := pattern.MatchesSome(tc.pattern, tc.prefix); got != tc.want {
			t.Errorf("MatchesSome(%q, %q) = %v, want %v", tc.pattern, tc.prefix, got, tc.want)
		}
	}
}

func TestListNeedsOneMatch(t *testing.T) {
	list := pattern.List{"gpt-*", "o3"}
	for name, want := range map[string]bool{"gpt-4o": true, "o3": true, "o3-mini": false, "": false} {
		if got := list.Match(name); got != want {
			t.Errorf("Match(%q) = %v, want %v", name, got, want)
		}
	}
	if (pattern.List{}).Match("gpt-4o") || pattern.List(nil).Match("") {
		t.Error("an empty list matched")
	}
}

func TestIsExact(t *testing.T) {
	for p, want := range map[string]bool{"gpt-4o": true, "anthropic/x:free": true, "*": false, "gpt-*": false, "a*b": false} {
		if got := pattern.IsExact(p); got != want {
			t.Errorf("IsExact(%q) = %v, want %v", p, got, want)
		}
	}
}

func TestValidNamesTheMistake(t *testing.T) {
	for _, p := range []string{"*", "gpt-*", "openrouter/anthropic/x:free", "modèle-*", strings.Repeat("a", pattern.MaxBytes)} {
		if err := pattern.Valid(p); err != nil {
			t.Errorf("Valid(%q) = %v, want nil", p, err)
		}
	}
	for p, want := range map[string]string{
		"":                                      "empty",
		"gpt 4":                                 "' '",
		"gpt\n":                                 `'\n'`,
		"gpt\u202e":                             `\u202e`,
		"gpt\xff":                               "not UTF-8",
		strings.Repeat("a", pattern.MaxBytes+1): "257 bytes",
	} {
		err := pattern.Valid(p)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Valid(%.20q) = %v, want an error with %q", p, err, want)
		}
		if err != nil && len(err.Error()) > 200 {
			t.Errorf("Valid(%.20q): the error repeats %d bytes", p, len(err.Error()))
		}
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	list := pattern.List{"gpt-*", "*claude*sonnet*"}
	if n := testing.AllocsPerRun(100, func() { list.Match("anthropic/claude-4-sonnet:beta") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
