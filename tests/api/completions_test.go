package api

import (
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
