package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const (
	completionsV1 = "/v1/completions"
	completionsOR = "/api/v1/completions"
)

func TestATextIsContinued(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for path, model := range map[string]string{completionsV1: "fake/echo", completionsOR: "router/echo"} {
		a := h.Client.Post(path, "chat", `{"model":"`+model+`","prompt":"def f(","suffix":"return x","echo":false}`)
		body := harness.Parse(t, a.Body)
		if a.Status != 200 || harness.At(body, "object") != "text_completion" || harness.At(body, "model") != model ||
			!strings.Contains(harness.At(body, "choices", 0, "text").(string), "def f(") || harness.At(body, "choices", 0, "message") != nil {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		row := h.Records.Row(a.Header.Get("X-Request-Id"))
		if harness.At(row, "model") != model || harness.At(row, "finish_reason") != "stop" || harness.At(row, "usage_source") != "provider" || harness.At(row, "completion_tokens") == harness.Number("0") {
			t.Errorf("%s: row %v", path, row)
		}
		up := h.Provider.Fake.Requests()
		if got := string(up[len(up)-1].Body); got != `{"model":"echo","prompt":"def f(","suffix":"return x","echo":false}` {
			t.Errorf("%s: upstream %s", path, got)
		}
	}
}

func TestAContinuedTextIsStreamed(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, c := range []struct {
		model, options string
		usage          bool
	}{
		{"fake/echo", "", false},
		{"fake/echo", `,"stream_options":{"include_usage":true}`, true},
		{"fake/no-stream", "", false}, // the provider answers in one piece
	} {
		a := h.Client.Post(completionsV1, "chat", `{"model":"`+c.model+`","prompt":["a","b"],"stream":true`+c.options+`}`)
		text := string(a.Body)
		if a.Status != 200 || !strings.HasSuffix(text, "data: [DONE]\n\n") || strings.Contains(text, `"prompt_tokens"`) != c.usage ||
			!jsontest.Has(t, text, `{"object":"text_completion"}`) || strings.Contains(text, "delta") || jsontest.Count(t, text, `{"finish_reason":"stop"}`) != 2 {
			t.Errorf("%s: %d %s", c.model, a.Status, a.Body)
		}
		row := h.Records.Row(a.Header.Get("X-Request-Id"))
		if harness.At(row, "usage_source") != "provider" || harness.At(row, "stream") != true || harness.At(row, "completion_tokens") == harness.Number("0") {
			t.Errorf("%s: row %v", c.model, row)
		}
	}
}

func TestABrokenTextNeverLooksWhole(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, model := range []string{"fake/cut-clean", "fake/cut-reset", "fake/err-mid-stream", "fake/malformed"} {
		a := h.Client.Post(completionsV1, "chat", `{"model":"`+model+`","prompt":"a","stream":true}`)
		if text := string(a.Body); a.Status == 200 && (strings.Contains(text, "[DONE]") || !strings.Contains(text, `"error"`)) {
			t.Errorf("%s: %d %s", model, a.Status, a.Body)
		}
		if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "code") == nil {
			t.Errorf("%s: row %v", model, row)
		}
	}
}

func TestAHardBudgetReservesAllChoicesOfAllPrompts(t *testing.T) {
	h := harness.Prepare(t)
	catalog := `{"models":[{"id":"fake/echo","mode":"completion","context_length":4096,"price":{"prompt":"0","completion":"1000"}}]}`
	if err := os.WriteFile(filepath.Join(h.Dir, "text.json"), []byte(catalog), 0o600); err != nil {
		t.Fatal(err)
	}
	// 3 prompts x best_of 4 x 10 tokens: 0.12 USD
	if err := h.Reload(harness.Setup{Options: "\ncatalog DIR/text.json\n", Keys: harness.Key("chat", "budget 0.125usd/day")}); err != nil {
		t.Fatal(err)
	}
	ask := func(tokens string) harness.Answer {
		return h.Client.Post(completionsV1, "chat", `{"model":"fake/echo","prompt":["a","b","c"],"n":2,"best_of":4`+tokens+`}`)
	}
	harness.WantRefusal(t, completionsV1, ask(`,"max_tokens":11`), 402, "budget_exceeded")
	harness.WantRefusal(t, completionsV1, ask(""), 402, "budget_exceeded") // 16 if absent
	if a := ask(`,"max_tokens":10`); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	harness.WantRefusal(t, completionsV1, h.Client.Post(harness.ChatV1, "chat", `{"model":"fake/echo","messages":[]}`), 404, "model_not_callable")
}

func TestGuardrailsReadContinuedTexts(t *testing.T) {
	h := harness.Start(t, harness.Setup{
		Keys:    harness.FullKey("guardrails gate mask"),
		Options: "guardrail gate {\ndeny words forbidden\n}\nguardrail mask {\non output\nredact words secretword\n}",
	})
	harness.WantRefusal(t, completionsV1, h.Client.Post(completionsV1, "full", `{"model":"fake/echo","prompt":"a forbidden b"}`), 422, "guardrail_blocked")
	for _, stream := range []string{"", `,"stream":true`} {
		a := h.Client.Post(completionsV1, "full", `{"model":"fake/echo","prompt":"one secretword two"`+stream+`}`)
		if text := string(a.Body); a.Status != 200 || strings.Contains(text, "secretword") || !strings.Contains(text, "two") || stream != "" && !strings.HasSuffix(text, "[DONE]\n\n") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
}

func TestAWrongCompletionIsRefused(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for body, code := range map[string]string{
		`{"model":"fake/echo"}`:             "missing_required_parameter",
		`{"model":"fake/echo","prompt":{}}`: "invalid_value",
		`{"model":"fake/echo","prompt":"a","stream":true,"stream_options":{"include_usage":1}}`: "invalid_value",
	} {
		harness.WantRefusal(t, completionsV1, h.Client.Post(completionsV1, "chat", body), 400, code)
	}
}
