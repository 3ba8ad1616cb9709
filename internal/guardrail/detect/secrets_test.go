package detect_test

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// The rule set is not edited here: rules/update.go fetches it.
func TestRuleSetIsAsItWasFetched(t *testing.T) {
	sum := sha256.Sum256([]byte(detect.RuleSet()))
	if got := hex.EncodeToString(sum[:]); got != "e163e53b9e7e8a8511e77271e2b323ed057759542a6d988258afe3a1fa329caf" {
		t.Errorf("sha256 %s", got)
	}
	rules, err := detect.SecretRules()
	if err != nil || len(rules) != 217 {
		t.Errorf("%d rules, %v", len(rules), err)
	}
}

// generate writes a random text that an expression matches.
func generate(re *syntax.Regexp, r *rand.Rand, out *strings.Builder) {
	times := func(low, high int) {
		if high < 0 || high > low+40 {
			high = low + 40
		}
		for range low + r.IntN(high-low+1) {
			generate(re.Sub[0], r, out)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			out.WriteRune(c)
		}
	case syntax.OpCharClass:
		for {
			n := 2 * r.IntN(len(re.Rune)/2)
			c := re.Rune[n] + rune(r.IntN(int(re.Rune[n+1]-re.Rune[n])+1))
			if c >= ' ' && c < 127 || c == '\n' && r.IntN(4) == 0 {
				out.WriteRune(c)
				return
			}
		}
	case syntax.OpAnyCharNotNL, syntax.OpAnyChar:
		out.WriteByte(byte(' ' + r.IntN(95)))
	case syntax.OpStar:
		times(0, -1)
	case syntax.OpPlus:
		times(1, -1)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		times(re.Min, re.Max)
	case syntax.OpAlternate:
		generate(re.Sub[r.IntN(len(re.Sub))], r, out)
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			generate(sub, r, out)
		}
	}
}

// secretText returns a text with matches of some rules in it, whole and broken ones.
func secretText(rules []detect.SecretRule, r *rand.Rand) string {
	var out strings.Builder
	for range 1 + r.IntN(4) {
		rule := rules[r.IntN(len(rules))]
		re, _ := syntax.Parse(rule.Regex.String(), syntax.Perl)
		if len(rule.Keywords) > 0 && r.IntN(4) > 0 {
			out.WriteString(rule.Keywords[r.IntN(len(rule.Keywords))])
			out.WriteString([]string{" ", "\n", "_", ""}[r.IntN(4)])
		}
		var match strings.Builder
		generate(re, r, &match)
		s := match.String()
		if r.IntN(4) == 0 && len(s) > 0 {
			s = s[:r.IntN(len(s))]
		}
		out.WriteString(s)
		out.WriteString([]string{" ", "\n", "'", ";", "", "x", " and the é "}[r.IntN(7)])
	}
	return out.String()
}

// covered reports for each byte of a text whether a span covers it.
func covered(text string, spans [][2]int) []bool {
	list := make([]bool, len(text))
	for _, s := range spans {
		for i := s[0]; i < s[1]; i++ {
			list[i] = true
		}
	}
	return list
}

func FuzzSecretsAreThoseOfTheRuleSet(f *testing.F) {
	rules, err := detect.SecretRules()
	if err != nil {
		f.Fatal(err)
	}
	for seed := range uint64(40) {
		f.Add(seed)
	}
	set := redacting(usualWindow, must(detect.Secrets()))
	f.Fuzz(func(t *testing.T, seed uint64) {
		text := secretText(rules, rand.New(rand.NewPCG(seed, 1)))
		var spans [][2]int
		for i := range rules {
			spans = append(spans, rules[i].Find(text)...)
		}
		got, want := covered(text, set.stretches(text)), covered(text, spans)
		if slices.Equal(got, want) {
			return
		}
		for i := range rules { // matches across others are found too
			spans = append(spans, rules[i].FindNested(text)...)
		}
		most := covered(text, spans)
		for i := range text {
			if want[i] && !got[i] || got[i] && !most[i] {
				t.Fatalf("seed %d: %q at %d: found %t, want %t", seed, text, i, got[i], want[i])
			}
		}
	})
}

// TestEachRuleFindsSomething makes sure that the trie has lost no rule.
func TestEachRuleFindsSomething(t *testing.T) {
	rules, err := detect.SecretRules()
	if err != nil {
		t.Fatal(err)
	}
	set := redacting(usualWindow, must(detect.Secrets()))
	for _, rule := range rules {
		re, _ := syntax.Parse(rule.Regex.String(), syntax.Perl)
		r := rand.New(rand.NewPCG(1, 1))
		ok := false
		for range 200 {
			var out strings.Builder
			if len(rule.Keywords) > 0 {
				out.WriteString(rule.Keywords[0] + " ")
			}
			generate(re, r, &out)
			if spans := rule.Find(out.String()); len(spans) == 0 {
				continue
			}
			if got := set.whole(out.String()); strings.Contains(got, "[REDACTED]") {
				ok = true
				break
			}
		}
		if !ok {
			t.Errorf("%s finds nothing in 200 texts made for it", rule.ID)
		}
	}
}

// The anchor of a rule may be in the middle or at the end of a secret. What comes before it must
// not have been sent by then.
func TestSecretsKnownByTheirEndAreHeldFromTheirStart(t *testing.T) {
	set := redacting(usualWindow, must(detect.Secrets()))
	for _, secret := range []string{
		"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",
		"k9Xw2Lp7Qz4Rt1.atlasv1.aB3dE6x7Yp2Qw9Rt4Zu8Kv1Mn5Lo0Ps6DfgaB3dE6x7Yp2Qw9Rt4Zu8Kv1Mn5Lo0",
		"aB37Q~x7Yp2Qw9Rt4Zu8Kv1Mn5Lo0Ps6DfgHj2K",
	} {
		sent, _ := set.pieces(strings.Split("= "+secret+" ok", ""))
		if sent != "= [REDACTED] ok" {
			t.Errorf("%s: sent %q", secret, sent)
		}
	}
}

func FuzzSecretsInPieces(f *testing.F) {
	rules, err := detect.SecretRules()
	if err != nil {
		f.Fatal(err)
	}
	for seed := range uint64(300) {
		f.Add(seed)
	}
	set := redacting(largestWindow, must(detect.Secrets()))
	f.Fuzz(func(t *testing.T, seed uint64) {
		text := secretText(rules, rand.New(rand.NewPCG(seed, 2)))
		want := set.whole(text)
		sent, _ := set.pieces(strings.Split(text, ""))
		if sent != want {
			t.Errorf("seed %d: %q\nin pieces %q\nas a whole %q", seed, text, sent, want)
		}
	})
}
