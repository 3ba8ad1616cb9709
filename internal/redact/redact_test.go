package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/redact"
)

func TestKnownSecretsAreRemovedEverywhere(t *testing.T) {
	r := redact.New([]string{"correct-horse-battery", "x"}, nil)
	got := r.Text(`key "correct-horse-battery" (correct-horse-batterycorrect-horse-battery) is not known, ok`)
	if strings.Contains(got, "horse") {
		t.Fatalf("got %q", got)
	}
	if !strings.HasSuffix(got, "is not known, ok") {
		t.Fatalf("a one-letter secret must not blank the text: %q", got)
	}
}

func TestShapesOfCredentialsVanish(t *testing.T) {
	var r *redact.Redactor
	for _, secret := range []string{
		"sk-proj-abcdefghijklmnop1234", "Bearer abc.def-123456", "bearer  gh-0123456789abcdef",
		"sk-ab*****************wxyz", "AIzaSyA0123456789abcdef",
	} {
		got := r.Text("provided: " + secret + ".")
		if strings.Contains(got, secret) || !strings.Contains(got, redact.Mark) {
			t.Errorf("%q: got %q", secret, got)
		}
	}
	plain := "The models `gpt-5-mini` and `xai-grok-4-fast-non-reasoning` do not exist; ask sk or the bearer of news."
	if got := r.Text(plain); got != plain {
		t.Errorf("ordinary text changed: %q", got)
	}
}

func TestTextIsBoundedAfterRedaction(t *testing.T) {
	secret := "correct-horse-battery"
	r := redact.New([]string{secret}, nil)
	got := r.Text(strings.Repeat("é", redact.MaxText/2-4) + secret + "tail" + strings.Repeat("z", redact.MaxText))
	if len(got) > redact.MaxText+len("…") || strings.Contains(got, "corre") {
		t.Fatalf("%d bytes: %q", len(got), got[len(got)-40:])
	}
}

func TestASecretThatBeginsWithAnotherVanishesWhole(t *testing.T) {
	r := redact.New([]string{"prov-key-0001", "prov-key-0001-tail-secret"}, nil)
	if got := r.Text("it was prov-key-0001-tail-secret."); got != "it was "+redact.Mark+"." {
		t.Fatalf("got %q", got)
	}
}

func TestARotatedSecretVanishesAndTheOneBefore(t *testing.T) {
	r := redact.New([]string{"static-secret-0"}, nil)
	r.Replace("", "rotated-secret-1")
	r.Replace("", "rotated-secret-2")
	r.Replace("rotated-secret-1", "rotated-secret-3")
	for text, want := range map[string]string{
		"static-secret-0": redact.Mark, "rotated-secret-1": "rotated-secret-1", "rotated-secret-2": redact.Mark, "rotated-secret-3": redact.Mark,
	} {
		if got := r.Text("a " + text); got != "a "+want {
			t.Errorf("%s in a text: %q", text, got)
		}
		if got := r.Name("a/" + text); got != "a/"+want {
			t.Errorf("%s in a name: %q", text, got)
		}
	}
}

func TestBytesLoseSecretsAndNothingElse(t *testing.T) {
	text := []byte(`{"a":"key-123456, key-1234567","b":1.50}`)
	if got := string(redact.Bytes(text, "key-123456", "short", "")); got != `{"a":"[redacted], [redacted]7","b":1.50}` {
		t.Errorf("%s", got)
	}
	for spelled, want := range map[string]string{
		`{"a":"k\u0065y-123456\n"}`:                                `{"a":"[redacted]\n"}`,
		`{"a":"x \u006b\u0065y-1234\u00356 y"}`:                    `{"a":"x [redacted] y"}`,
		`{"a":"{\"b\":\"\\u006bey-123456\"}","\u006bey-123456":1}`: `{"a":"{\"b\":\"[redacted]\"}","[redacted]":1}`,
		`{"a":"\u006bey","b":"-123456"}`:                           `{"a":"\u006bey","b":"-123456"}`,
		`{"a":"\u00zz\u006bey-12345\`:                              `{"a":"\u00zz\u006bey-12345\`,
	} {
		if got := string(redact.Bytes([]byte(spelled), "key-123456")); got != want {
			t.Errorf("%s: %s, want %s", spelled, got, want)
		}
	}
	if got := redact.Text(`no key \u006bey-123456`, "key-123456"); got != "no key [redacted]" {
		t.Errorf("%s", got)
	}
	if got := redact.Bytes(text, "absent-secret"); &got[0] != &text[0] {
		t.Error("a text without secrets is copied")
	}
}

func TestASecretThatTheCallerHasSentIsGuessed(t *testing.T) {
	secrets := []string{"key-123456", "other/123456", "short"}
	for sent, want := range map[string]string{
		`{"a":"key-123456"}`: "[key-123456]", `{"a":"\u006bey-123456 other\/123456"}`: "[key-123456 other/123456]",
		`{"arguments":"{\"a\":\"\\u006bey-123456\"}"}`: "[key-123456]", `{"a":"key-12345","b":"6 short"}`: "[]",
	} {
		if got := fmt.Sprint(redact.Guessed(secrets, []byte("x"), []byte(sent))); got != want {
			t.Errorf("%s: %s, want %s", sent, got, want)
		}
	}
}
