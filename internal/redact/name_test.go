package redact_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
)

const hashed = "one-of-which-only-the-hash-is-known"

func redactor() *redact.Redactor {
	return redact.New([]string{"correct-horse-battery", "ollama"}, func(text string) bool { return text == hashed })
}

func TestANameKeepsNoSecret(t *testing.T) {
	fresh, err := keys.NewSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{
		fresh, hashed, "correct-horse-battery", "sk-proj-0123456789abcdefghij", "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
	} {
		for _, form := range []string{"KEY", "openai/KEY", "Bearer KEY", "KEY KEY", "a=KEY&b=1", `"KEY"`, "fake/KEY:free"} {
			name := strings.ReplaceAll(form, "KEY", secret)
			want := strings.ReplaceAll(form, "KEY", redact.Mark)
			if got := redactor().Name(name); got != want {
				t.Errorf("%q became %q, want %q", name, got, want)
			}
		}
	}
	if got := redactor().Name("ollama"); got != redact.Mark {
		t.Errorf("a short secret alone became %q", got)
	}
}

func TestOrdinaryNamesStay(t *testing.T) {
	for _, name := range []string{
		"", "desk1", "openai/gpt-5-mini-2026-01-01", "ollama/llama-4-scout-17b-16e-instruct", "skywork/skywork-o1-open-llama-3.1-8b",
		"high-quality/ghost-writer-7b-instruct-q4_k_m", "req_0123456789abcdef0123456789abcdef", "xai/grok-4-fast-non-reasoning-latest",
	} {
		if got := redactor().Name(name); got != name {
			t.Errorf("%q became %q", name, got)
		}
		var none *redact.Redactor
		if got := none.Name(name); got != name {
			t.Errorf("without secrets %q became %q", name, got)
		}
	}
}

func TestALongNameIsSearchedWithinBounds(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	if got := redactor().Name(long); got != long {
		t.Error("a long name without a secret changed")
	}
	for at := 8<<10 - 20; at <= 8<<10; at++ { // where the searched part ends
		name := strings.Repeat("gh-"+strings.Repeat("k", 43)+" ", at)[:at] + "correct-horse-battery" + long
		if got := redactor().Name(name); got != redact.Mark {
			t.Fatalf("%.80q", got)
		}
	}
}

func BenchmarkName(b *testing.B) {
	r := redact.New([]string{"correct-horse-battery", "another-secret-of-some-length", "the-third-one-of-them"}, func(string) bool { return false })
	for name, text := range map[string]string{"short": "openai/gpt-5-mini", "long": "vllm/meta-llama/Llama-4-Maverick-17B-128E-Instruct"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Name(text)
			}
		})
	}
}
