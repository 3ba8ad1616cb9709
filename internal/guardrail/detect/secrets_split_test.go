package detect_test

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// tails are texts after a secret that may keep a rule waiting for a longer match: one long line,
// many short lines, a few long ones.
var tails = []string{
	" " + strings.Repeat("word and more ", 60),
	"\n" + strings.Repeat("line of text here\n", 60),
	"\n" + strings.Repeat(strings.Repeat("long line of text ", 20)+"\n", 8),
}

func TestSecretsShorterThanTheWindowAreFoundWholeInStreams(t *testing.T) {
	rules, err := detect.SecretRules()
	if err != nil {
		t.Fatal(err)
	}
	set := redacting(usualWindow, must(detect.Secrets()))
	r := rand.New(rand.NewPCG(1, 2))
	found := 0
	for _, rule := range rules {
		re, _ := syntax.Parse(rule.Regex.String(), syntax.Perl)
		for n := range 12 {
			var secret strings.Builder
			if generate(re, r, &secret); secret.Len() > 200 {
				continue
			}
			text := "See: " + secret.String() + tails[n%len(tails)]
			whole := set.whole(text)
			if whole != text {
				found++
			}
			cuts := make([]byte, len(text)/4)
			for i := range cuts {
				cuts[i] = byte(1 + r.IntN(8))
			}
			sent, _ := set.pieces(cut(text, cuts))
			if sent != whole {
				t.Errorf("%s in %.250q\nas a whole %.250q\nin pieces  %.250q", rule.ID, text, whole, sent)
				break
			}
		}
	}
	if found < len(rules) {
		t.Errorf("%d texts with secrets for %d rules", found, len(rules))
	}
}

// The rules for curl may find a longer match up to five lines later.
func TestSecretsAreDeniedAtTheirEnd(t *testing.T) {
	set := ruleSet{[]detect.Rule{{Detector: must(detect.Secrets()), Deny: true}}, usualWindow}
	for _, secret := range []string{"-u 'admin:S3cr3tPassw0rdX'", "-H 'Authorization: Bearer x7Kd9Qm2Lp4Rt6Wz8Yb1Nc3Vf5Hj0Gs2'"} {
		text := "run curl " + secret + " https://site.example/ "
		sent, denied := set.pieces(strings.Split(text+tails[0], ""))
		if !denied || len(sent) > strings.Index(text, secret)+len(secret)/2 {
			t.Errorf("denied %t, sent %q", denied, sent)
		}
	}
}

// A secret that grows is taken out to its end, however long it is.
func TestSecretsThatGrowAreFoundBeyondTheWindow(t *testing.T) {
	set := redacting(300, must(detect.Secrets()))
	text := "it is ops_eyJ" + strings.Repeat("aB3dE6x7Yp2Qw9Rt4", 60) + " ok" // 250 are enough
	sent, _ := set.pieces(strings.Split(text, ""))
	if sent != "it is [REDACTED] ok" {
		t.Errorf("sent %q", sent)
	}
}

// The header of a real key ends the match that a false header before it began.
func TestPrivateKeysAreFoundBehindFalseHeaders(t *testing.T) {
	const body = "MIIEpAIBAAKCAQEAx7Kd9Qm2Lp4Rt6Wz8Yb1Nc3Vf5Hj0Gs2Ae4U\n"
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(body, 20) + "-----END RSA PRIVATE KEY-----"
	set := redacting(largestWindow, must(detect.Secrets()))
	const header = "-----BEGIN PRIVATE KEY-----\n"
	for name, before := range map[string]string{
		"none":         "",
		"near":         header,
		"further":      header + strings.Repeat("x ", 40),
		"two":          header + strings.Repeat("x ", 40) + header + strings.Repeat("y ", 70),
		"far":          header + strings.Repeat("x ", 3000),
		"too far":      header + strings.Repeat("x ", 7900),
		"out of sight": header + strings.Repeat("x ", 9000),
	} {
		whole := set.whole(before + key + " ok")
		if strings.Contains(whole, body[:20]) || !strings.HasSuffix(whole, "[REDACTED] ok") {
			t.Errorf("%s: %.60q … %.60q", name, whole, whole[max(0, len(whole)-60):])
		}
		sent, _ := set.pieces(strings.SplitAfter(before+key+" ok", "\n"))
		if strings.Contains(sent, body[:20]) || !strings.HasSuffix(sent, "[REDACTED] ok") {
			t.Errorf("%s in pieces: %.60q … %.60q", name, sent, sent[max(0, len(sent)-60):])
		}
	}
}

// The allowlists of the rule set must not help to hide a secret.
func TestTheRestOfALineHidesNoSecret(t *testing.T) {
	finds(t, must(detect.Secrets()),
		"⟦ghp_x7Kd9Qm2Lp4Rt6Wz8Yb1Nc3Vf5Hj0Gs2Ae4U⟧", "⟦ghp_x7Kd9Qm2Lp4Rt6Wfalseb1Nc3Vf5Hj0Gs2Ae⟧",
		`--mount=type=secret, api_key = "⟦x7Kd9Qm2Lp4Rt6Wz8Yb1Nc3Vf5Hj0Gs2Ae4U⟧"`,
		`import {a} from "b"; api_key = "⟦x7Kd9Qm2Lp4Rt6Wz8Yb1Nc3Vf5Hj0Gs2Ae4U⟧"`,
		`api_key = "${SOME_VARIABLE_WITH_A_LONG_NAME}"`, "AKIAIOSFODNN7EXAMPLE",
	)
}
