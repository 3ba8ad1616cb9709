package operator

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// canaries are texts that must not leak, by their kind.
var canaries = map[string]string{
	"the client's key":     harness.Secret("full"),
	"a key with a hash":    harness.Secret("hashed"),
	"a key that is wrong":  harness.Secret("nobody"),
	"the provider's key":   harness.ProviderKey,
	"the provider's words": faults.SecretText,
	"the client's cookie":  "cookie-canary-31d9f0",
	"the prompt":           "prompt-canary-77ab02",
	"a tool's argument":    "argument-canary-90cc4e",
	"the provider's org":   "org-fake-leak",
}

const clientAddress = "198.51.100.77"

func TestSecretsStayWhereTheyAre(t *testing.T) {
	hashed := "key hashed {\nhash sha256:" + harness.SHA256(harness.Secret("hashed")) + "\nscopes chat:write\n}\n"
	h := harness.Start(t, harness.Setup{Keys: harness.DefaultKeys + hashed})
	var answers bytes.Buffer
	for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1, harness.ResponsesRouter} {
		for _, model := range []string{
			"fake/leaky-headers", "fake/err-400", "fake/err-401", "fake/err-429", "fake/err-500", "fake/html-502", "fake/error-200",
			"fake/err-mid-stream", "fake/response-failed", "fake/err-first-event", "fake/malformed", "fake/no-answer", "fake/redirect-307", "none/model", "test/echo",
		} {
			for _, key := range []string{"full", "hashed", "nobody"} {
				for _, more := range []string{"", harness.Streaming} {
					body := harness.Body(path, model, more+`,"metadata":{"a":"`+canaries["a tool's argument"]+`"}`)
					if model != "test/echo" { // returns the prompt
						body = strings.Replace(body, "say hello", canaries["the prompt"], 1)
					}
					r := h.Client.Request(path, key, body)
					r.Header.Set("Cookie", "session="+canaries["the client's cookie"])
					r.Header.Set("X-Forwarded-For", clientAddress)
					r.Header.Set("X-Real-Ip", clientAddress)
					a := h.Client.Send(r)
					if a.Status == 200 && !strings.Contains(model, "err") {
						a.Body = bytes.ReplaceAll(a.Body, []byte(canaries["the prompt"]), nil) // its own client may read it
						a.Body = bytes.ReplaceAll(a.Body, []byte(canaries["a tool's argument"]), nil)
					}
					_ = a.Header.Write(&answers)
					answers.Write(a.Body)
				}
			}
		}
	}
	seen := map[string]string{"the activity": string(h.Client.Get("/api/v1/activity?limit=1000", "activity").Body)}
	seen["the metrics"] = string(h.Client.Get("/metrics", "").Body)
	if !strings.Contains(seen["the metrics"], "gatehouse_") || len(seen["the activity"]) < 10_000 {
		t.Errorf("nothing to look at: %d bytes of metrics, %d of activity", len(seen["the metrics"]), len(seen["the activity"]))
	}
	var headers, bodies strings.Builder
	for _, up := range h.Provider.Fake.Requests() {
		for _, header := range up.Headers {
			if header[0] == "Authorization" {
				if header[1] != "Bearer "+harness.ProviderKey {
					t.Errorf("the provider was given Authorization %q", header[1])
				}
				continue
			}
			headers.WriteString(header[0] + ": " + header[1] + "\n")
		}
		bodies.Write(up.Body)
	}
	seen["the headers to the provider"] = headers.String()
	h.Stop()
	seen["the log"] = harness.Log.Text()
	seen["the files"] = harness.DataFiles(h)

	for where, text := range seen {
		for what, canary := range canaries {
			if i := strings.Index(text, canary); i >= 0 {
				t.Errorf("%s holds %s: …%s…", where, what, text[max(0, i-200):min(len(text), i+60)])
			}
		}
	}
	for what, canary := range canaries {
		if i := strings.Index(answers.String(), canary); i >= 0 && what != "the prompt" && what != "a tool's argument" {
			t.Errorf("an answer holds %s: …%s…", what, answers.String()[max(0, i-200):i+40])
		}
		if strings.Contains(bodies.String(), canary) && what != "the prompt" && what != "a tool's argument" {
			t.Errorf("a body to the provider holds %s", what)
		}
	}
	for where, text := range map[string]string{"the activity": seen["the activity"], "the headers to the provider": seen["the headers to the provider"], "the files": seen["the files"]} {
		if strings.Contains(text, clientAddress) {
			t.Errorf("%s: the client's address", where)
		}
	}
}

func TestEveryCallLeavesOneLogLine(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, model := range []string{"fake/echo", "fake/err-500", "none/x"} {
		for _, more := range []string{"", harness.Streaming} {
			r := h.Client.Request(harness.ChatV1, "full", harness.Chat(model, more))
			r.Header.Set("X-Client-Request-Id", "client-id-1")
			a := h.Client.Send(r)
			id := a.Header.Get("X-Request-Id")
			var ours []string
			for _, line := range harness.Log.Lines(id) {
				if jsontest.Has(t, line, `{"msg":"call"}`) {
					ours = append(ours, line)
				}
			}
			if len(ours) != 1 {
				t.Fatalf("%s%s: %d lines: %v", model, more, len(ours), ours)
			}
			line := harness.Parse(t, []byte(ours[0]))
			row := h.Records.Row(id)
			for field, want := range map[string]any{
				"key": "full", "tenant": "default", "route": "POST /v1/chat/completions", "model": model, "client_request_id": "client-id-1",
				"status": harness.At(row, "status"), "stream": more != "", "generation_id": harness.At(row, "id"), "tokens_out": harness.At(row, "completion_tokens"),
			} {
				if got := harness.At(line, field); got != want {
					t.Errorf("%s%s: %s is %v, want %v", model, more, field, got, want)
				}
			}
		}
	}
}
