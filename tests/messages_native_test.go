package tests

import (
	"strings"
	"testing"
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
	h := start(t, setup{providers: anthropicOnly.providers + listedProvider})
	for _, path := range messagePaths {
		body := `{"model":"fake/echo","max_tokens":200,  "context_management":{"edits":[]},"messages":[{"role":"user","content":"say hello"}]}`
		r := h.request(path+"?beta=true", "full", body)
		r.Header.Set("Anthropic-Version", "2023-06-01")
		r.Header.Set("Anthropic-Beta", "context-management-2025-06-27,other-2025-01-01")
		r.Header.Set("X-Api-Key", secretOf("full")) // beside the bearer token
		a := h.send(r)
		v := parse(t, a.body)
		if a.status != 200 || at(v, "type") != "message" || at(v, "model") != "fake/echo" || at(v, "content", 0, "text") != "You said: say hello" {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		up := h.upstreamCall(1)
		if want := strings.Replace(body, "fake/echo", "echo", 1); string(up.Body) != want || strings.Join(up.Header("Anthropic-Beta"), "") != "context-management-2025-06-27,other-2025-01-01" ||
			strings.Join(up.Header("X-Api-Key"), "") != providerKey || len(up.Header("Authorization")) > 0 {
			t.Errorf("%s: the provider got %s, want %s", path, up.Body, want)
		}
		found := h.get("/api/v1/generation?id="+at(v, "id").(string), "full")
		if found.status != 200 || !strings.Contains(string(found.body), a.header.Get("Request-Id")) {
			t.Errorf("%s: the message's id does not find the call: %d %s", path, found.status, found.body)
		}
		h.upstream.Reset()
	}
	r := h.request(messagePaths[0]+"/count_tokens", "full", `{"model":"fake/echo","messages":[{"role":"user","content":"say hello"}]}`)
	r.Header.Set("Anthropic-Version", "2026-10-21")
	count := h.send(r)
	if n, _ := at(parse(t, count.body), "input_tokens").(interface{ Int64() (int64, error) }); count.status != 200 || n == nil {
		t.Errorf("count_tokens: %d %s", count.status, count.body)
	}
	list := h.request("/v1/models?limit=1000", "full", "")
	list.Header.Set("Anthropic-Version", "2023-06-01")
	if a := h.send(list); a.status != 200 || !strings.Contains(string(a.body), `{"type":"model","id":"listed/echo",`) {
		t.Errorf("the list: %d %s", a.status, a.body)
	}
}
