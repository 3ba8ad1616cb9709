package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// hostile is what a name could do in a page that does not show it as text.
const hostile = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>'"&amp;`

// long has no place to break, and turned what follows it where it is not isolated.
var (
	long   = strings.Repeat("wide", 60)
	turned = "\u202egpj.exe"
)

// canaryPrompt is in the text of a call, and nowhere else.
const canaryPrompt = "canary-prompt-5b1c"

// demoRun is the trace of all calls of models.
const demoRun = "4bf92f3577b34da6a3ce929d0e0e4736"

// demo fills a gateway with calls of all kinds, by real requests.
func (s *site) demo(t *testing.T) {
	t.Helper()
	for i := range 12 {
		s.chat(t, s.secrets["ops"], []string{"test/echo", "test/lorem"}[i%2], i%3 == 0)
	}
	for _, model := range []string{"test/none", hostile, long, turned} {
		s.chat(t, s.secrets["ops"], model, false)
	}
	for server, tools := range map[string][]string{"demo": {"echo", "error", "none", hostile, long}, "away": {"any"}} {
		for _, tool := range tools {
			message := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": map[string]string{"text": canaryPrompt}}}
			s.call(t, http.MethodPost, "/mcp/"+server, message, nil)
		}
	}
	for _, name := range []string{hostile, turned, long[:64]} {
		var made struct {
			Key string `json:"key"`
		}
		s.call(t, http.MethodPost, "/api/v1/keys", map[string]any{"name": name, "limit": 1}, &made)
		s.chat(t, made.Key, "test/echo", false)
	}
}

// chat makes a call, whatever its answer is.
func (s *site) chat(t *testing.T, secret, model string, stream bool) {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"model": model, "stream": stream, "messages": []map[string]string{{"role": "user", "content": "say " + canaryPrompt}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url("/v1/chat/completions"), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Traceparent", "00-"+demoRun+"-00f067aa0ba902b7-01")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusUnauthorized {
		t.Fatal(fmt.Errorf("a call of %.20q: %s", model, answer.Status))
	}
}
