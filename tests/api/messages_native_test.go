package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// listedProvider has the fake provider as Anthropic, with its list of models.
const listedProvider = `
	provider listed {
		dialect anthropic
		base_url PROVIDER
		api_key {env.PROVIDER_KEY}
		discover 10m
	}
`

func TestMessagesPassToAnthropic(t *testing.T) {
	h := harness.Start(t, harness.Setup{Providers: anthropicOnly.Providers + listedProvider})
	for _, path := range messagePaths {
		body := `{"model":"fake/echo","max_tokens":200,  "context_management":{"edits":[]},"messages":[{"role":"user","content":"say hello"}]}`
		r := h.Client.Request(path+"?beta=true", "full", body)
		r.Header.Set("Anthropic-Version", "2023-06-01")
		r.Header.Set("Anthropic-Beta", "context-management-2025-06-27,other-2025-01-01")
		r.Header.Set("X-Api-Key", harness.Secret("full")) // beside the bearer token
		a := h.Client.Send(r)
		v := harness.Parse(t, a.Body)
		if a.Status != 200 || harness.At(v, "type") != "message" || harness.At(v, "model") != "fake/echo" || harness.At(v, "content", 0, "text") != "You said: say hello" {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		sent := h.Provider.Fake.Requests()
		up := sent[slices.IndexFunc(sent, func(r faults.Request) bool { return r.Method == http.MethodPost })] // the list of models may be read meanwhile
		if want := strings.Replace(body, "fake/echo", "echo", 1); string(up.Body) != want || strings.Join(up.Header("Anthropic-Beta"), "") != "context-management-2025-06-27,other-2025-01-01" ||
			strings.Join(up.Header("X-Api-Key"), "") != harness.ProviderKey || len(up.Header("Authorization")) > 0 {
			t.Errorf("%s: the provider got %s, want %s", path, up.Body, want)
		}
		found := h.Client.Get("/api/v1/generation?id="+harness.At(v, "id").(string), "full")
		if found.Status != 200 || !strings.Contains(string(found.Body), a.Header.Get("Request-Id")) {
			t.Errorf("%s: the message's id does not find the call: %d %s", path, found.Status, found.Body)
		}
		h.Provider.Fake.Reset()
	}
	r := h.Client.Request(messagePaths[0]+"/count_tokens", "full", `{"model":"fake/echo","messages":[{"role":"user","content":"say hello"}]}`)
	r.Header.Set("Anthropic-Version", "2026-10-21")
	count := h.Client.Send(r)
	if n, _ := harness.At(harness.Parse(t, count.Body), "input_tokens").(interface{ Int64() (int64, error) }); count.Status != 200 || n == nil {
		t.Errorf("count_tokens: %d %s", count.Status, count.Body)
	}
	list := h.Client.Request("/v1/models?limit=1000", "full", "")
	list.Header.Set("Anthropic-Version", "2023-06-01")
	if a := h.Client.Send(list); a.Status != 200 || !jsontest.Has(t, a.Body, `{"type":"model","id":"listed/echo"}`) {
		t.Errorf("the list: %d %s", a.Status, a.Body)
	}
}
