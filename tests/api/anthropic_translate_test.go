package api

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// onlyMessages has the fake provider as Anthropic: its address knows no other API.
var onlyMessages = harness.Setup{Providers: `
	provider fake {
		dialect anthropic
		base_url PROVIDER/v1
		api_key {env.PROVIDER_KEY}
		models *
		discover off
	}
`}

func TestOpenAIsCallsOfAnthropicAreTranslated(t *testing.T) {
	h := harness.Start(t, onlyMessages)
	for i, path := range modelPaths {
		a := h.Client.Post(path, "full", harness.Body(path, "fake/echo", ""))
		v := harness.Parse(t, a.Body)
		text, usage := harness.At(v, "choices", 0, "message", "content"), harness.At(v, "usage", "prompt_tokens")
		if path == harness.ResponsesV1 {
			text, usage = harness.At(v, "output", 0, "content", 0, "text"), harness.At(v, "usage", "input_tokens")
		}
		if a.Status != 200 || text != "You said: say hello" || harness.At(v, "model") != "fake/echo" || usage == harness.Number("0") {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		sent := h.Provider.Request(i + 1)
		want := `{"model":"echo","max_tokens":16384,"messages":[{"role":"user","content":[{"type":"text","text":"say hello"}]}]}`
		if sent.Path != "/v1/messages" || string(sent.Body) != want || sent.Header("Anthropic-Version")[0] != "2023-06-01" ||
			sent.Header("X-Api-Key")[0] != harness.ProviderKey || len(sent.Header("Authorization")) > 0 {
			t.Errorf("%s: the provider got %s %s", path, sent.Path, sent.Body)
		}
		found := h.Client.Get("/api/v1/generation?id="+harness.At(v, "id").(string), "full")
		if found.Status != 200 || !strings.Contains(string(found.Body), a.Header.Get("X-Request-Id")) {
			t.Errorf("%s: the id of the answer does not find the call: %d %s", path, found.Status, found.Body)
		}
	}
}

// messagesOddities are the behaviours that the Messages API shows in another way.
var messagesOddities = map[string]oddity{
	"azure-filter":   never.as(422, "provider_content_policy"),
	"context-window": {finish: "length"},
	"no-done":        {chatStream: broken}, // without message_stop an answer is not whole
	"null-fields":    {},
	"overloaded":     never.as(503, "upstream_overloaded"),
	"pause-turn":     {chat: refused, chatStream: broken},
	"refusal":        {text: "-", finish: "content_filter"},
	"unknown-block":  never,
}

func TestNoOddityOfAnthropicCountsAsSuccess(t *testing.T) {
	h := harness.Start(t, onlyMessages)
	for _, name := range faults.Behaviours() {
		o, other := messagesOddities[name]
		if !other {
			o = oddities[name]
		}
		t.Run(name, func(t *testing.T) {
			for _, path := range translatedPaths(name) {
				oddCall(h, t, name, path, "", o, o.chat)
				oddCall(h, t, name, path, harness.Streaming, o, o.chatStream)
			}
		})
	}
}
