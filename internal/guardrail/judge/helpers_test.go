package judge_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

// redacting compiles a rule that redacts.
func redacting(t testing.TB, rule judge.Rule, window int) guardrail.Set {
	t.Helper()
	rule.Action = judge.Redact
	return compiled(t, judge.Spec{Name: "test", Rules: []judge.Rule{rule}, Window: window})
}

func compiled(t testing.TB, specs ...judge.Spec) guardrail.Set {
	t.Helper()
	var list []guardrail.Guardrail
	for _, spec := range specs {
		g, err := judge.Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, g)
	}
	return judge.Join(list)
}

// detectors are a rule of each kind, and some.
var detectors = []judge.Rule{
	{Detector: judge.Email},
	{Detector: judge.Card},
	{Detector: judge.Secrets},
	{Detector: judge.Words, Words: []string{"Project X", "ſtraße", "東京", "c++", "aa", "a"}},
	{Detector: judge.Regexp, Pattern: `a.*b`},
	{Detector: judge.Regexp, Pattern: `\b[0-9]{3,}\b`},
	{Detector: judge.Regexp, Pattern: `abc+x|ab`},
}

var texts = []string{
	"",
	"write to jane.doe+x@mail.example.com, or to a@b.de.",
	"card 4111 1111 1111 1111 and 4111-1111-1111-1112, 378282246310005; 5555555555554444",
	"key AKIAIOSFODNN7XK4QZ2W and aws_secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCY3f8kQw2hTt'",
	"token: ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8 they say",
	"the PROJECT \n x is in 東京都, Straße 3, C++ aaa a aa",
	"pro\u00adject ｘ, 東\ufe0f京, S\u0323traße c\u200b++, 4111–1111.1111\n1111 4111–1111−1111\u00a01111 41１１\u200b11111111 1111 a\u0301 á ⓐⓐ ﬁ",
	"abccccx abcc 123 4567 8 a b a b\na b",
	strings.Repeat("a", 40) + "b" + strings.Repeat("1", 40),
}

// cut cuts a text between characters. Each byte of cuts is the number of characters of the next
// piece.
func cut(text string, cuts []byte) (pieces []string) {
	for _, n := range cuts {
		at := 0
		for range n {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
		}
		pieces, text = append(pieces, text[:at]), text[at:]
	}
	return append(pieces, text)
}

// denying is a guardrail that denies a word, and card numbers.
func denying(t testing.TB, word string) guardrail.Set {
	return compiled(t, judge.Spec{Name: "g", Rules: []judge.Rule{
		{Action: judge.Deny, Detector: judge.Words, Words: []string{word}},
		{Action: judge.Deny, Detector: judge.Card},
	}})
}
