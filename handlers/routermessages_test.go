package handlers

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// OpenRouter documents its route of the Messages API without a version and with an optional limit.
func TestOpenRoutersMessagesNeedNoVersionAndNoLimit(t *testing.T) {
	const unlimited = `{"model":"acme/m","messages":[{"role":"user","content":"hello"}]}`
	for dialect, answer := range map[string]string{
		provider.Anthropic: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":5}}`,
		"":                 `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}`,
	} {
		var body []byte
		var header http.Header
		g := startGateway(t, setup{Dialect: dialect, Provider: func(r *http.Request) (resp *http.Response, err error) {
			if body, err = io.ReadAll(r.Body); err != nil {
				return nil, err
			}
			header = r.Header
			return answering(200, "application/json", answer)(r)
		}})
		a := call(t, g, "POST", "/api/v1/messages", "chat", unlimited)
		if a.Want(t, 200, "", ""); a.At(t, "type") != "message" {
			t.Errorf("%s: %s", dialect, a.Body)
		}
		var sent struct {
			MaxTokens           *int `json:"max_tokens"`
			MaxCompletionTokens *int `json:"max_completion_tokens"`
		}
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		if native := dialect != ""; (sent.MaxTokens != nil) != native || sent.MaxCompletionTokens != nil || native && header.Get("Anthropic-Version") != "2023-06-01" {
			t.Errorf("%s: sent %s, %v", dialect, body, header)
		}
		if a := call(t, g, "POST", "/v1/messages", "chat", unlimited); a.Code != 400 {
			t.Errorf("%s: %d without a version", dialect, a.Code)
		}
		if a := asClaude(t, g, "POST", "/v1/messages", "chat", unlimited); a.Code != 400 || a.At(t, "error", "details", "param") != "max_tokens" {
			t.Errorf("%s: %d without a limit", dialect, a.Code)
		}
	}
}
