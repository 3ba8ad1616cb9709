package redact_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
)

const (
	hashed  = "one-of-which-only-the-hash-is-known"
	chosen  = "of+a~hash.that#somebody-chose"
	ownKey  = "gh-Ab3_-Cd4_-Ef5_-Gh6_-Ij7_-Kl8_-Mn9_-Op0_-QrS" // no long run of letters and digits
	runsKey = "gh-aB0cD1eF2gH3_iJ4kL5mN6oP7-qR8sT9uV0wX1-yZ2aB"
)

func redactor() *redact.Redactor {
	return redact.New([]string{"correct-horse-battery", "ollama"}, func(text string) bool { return text == hashed || text == chosen })
}

func TestANameKeepsNoSecret(t *testing.T) {
	fresh, err := keys.NewSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{
		fresh, hashed, "correct-horse-battery", "sk-proj-0123456789abcdefghij", "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
		ownKey, "xai-0123456789abcdefghijABCDEFGHIJ", "pplx-0123456789abcdefghij", "nvapi-abc_0123456789abcdefghij-x",
		"csk-0123456789abcdefghij", "r8_0123456789abcdefghij", "fw_0123456789abcdefghij", "github_pat_11ABCDEFG0abcdefghijkl_0",
		"ghs_0123456789abcdefghijklmnopqrstuvwxyz", "ya29.a0AfH6SMBx0123456789", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def", "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", "glpat-ab12-Cd34_Ef56-Gh78i", "sk-ab***************wxyz",
	} {
		for _, form := range []string{
			"KEY", "openai/KEY", "Bearer KEY", "KEY KEY", "a=KEY&b=1", `"KEY"`, "fake/KEY:free", "[KEY]", "{KEY}", "a|KEY|b", "KEY.", "!KEY!",
			"me@KEY@x", "$KEY", `\KEY\`, "`KEY`", "KEY\x00", "\u00a0KEY\u00a0", "~KEY#", "é.KEY.é",
		} {
			name := strings.ReplaceAll(form, "KEY", secret)
			want := strings.ReplaceAll(form, "KEY", redact.Mark)
			if got := redactor().Name(name); got != want {
				t.Errorf("%q became %q, want %q", name, got, want)
			}
		}
	}
	if got := redactor().Name("x" + runsKey); got != "x"+redact.Mark {
		t.Errorf("a key after a letter became %q", got)
	}
	for _, form := range []string{"KEY", "openai/KEY", "Bearer KEY", "[KEY]", "KEY\u00a0", "a|KEY|b"} {
		if got := redactor().Name(strings.ReplaceAll(form, "KEY", chosen)); got != strings.ReplaceAll(form, "KEY", redact.Mark) {
			t.Errorf("%q with a key that somebody chose became %q", form, got)
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
		"azure/xai-grok-4-fast-non-reasoning", "foundry/xai-grok-code-fast-1-0825", "local/hf_meta-llama_Llama-3-8B-Instruct",
		"local/hf_mistral-7b-instruct-v0_3-awq", "x/gh-models-gpt-4o-mini-2024-07-18", "lab/rk-llm-qwen2_5-7b-instruct-w8a8",
		"lab/pk-legal-llama-3-8b-instruct-lora", "lab/sk-instruct-finetune-run-20250101-ckpt-9000", "helsinki/opus-mt-sk-finetuned-news-commentary-v2",
		"wav2vec2-large-xlsr-53-sk-slovak-common-voice-v7", "lab/high-precision-Llama-3_3-70B-Instruct-AWQ-4bit-128g-2025-07-18",
		"black-forest/gho_st-writer-llama-70b-instruct", "user/model-SGVsbG8gd29ybGQhIQ", "skt/A.X-4.0-Light",
		"openai/ft:gpt-4o-mini-2024-07-18:personal::A1b2C3d4", "ft:gpt-3.5-turbo-0125:acme:custom-suffix:7p4lURel",
		"d290f1ee-6c54-4b01-90e6-d851748f0851", "ollama/hf.co/unsloth/DeepSeek-R1-Distill-Qwen-32B-GGUF:Q4_K_M",
		"accounts/fireworks/models/llama-v3p1-8b-instruct#accounts/me/deployments/abcd1234", "projects/p/locations/us-central1/endpoints/1234567890123456789",
		"arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-20250514-v1:0",
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
		name := strings.Repeat(ownKey+" ", at)[:at] + "correct-horse-battery" + long
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
