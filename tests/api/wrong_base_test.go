package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestAWrongBaseURLIsExplainedInTheFamilysShape(t *testing.T) {
	h := harness.Start(t, harness.Setup{Site: "encode\nheader X-Site yes\ngatehouse"})
	for path, want := range map[string]string{
		"/openai/v1/chat/completions": "must end in /v1", "/V1/chat/completions": "must end in /v1", "/chat/completions": "must end in /v1",
		"/embeddings": "must end in /v1", "/responses": "must end in /v1", "/models": "must end in /v1", "/v1": "must end in /v1",
		"/v1/v1/chat/completions": "must not end in /v1", "/v1/chat/completions/chat/completions": "must end in /v1",
		"/openai/deployments/gpt/chat/completions?api-version=1": "Azure's", "/v1beta/models/gemini:generateContent": "Gemini's",
		"/api/chat/completions": "/api/v1 (OpenRouter)", "/api/chat": "Ollama's", "/api/tags": "Ollama's",
		"/api/v1/v1/chat/completions": "must not end in /v1",
		"/anthropic/v1/messages":      "/v1/messages", "/messages": "/v1/messages", "/messages/count_tokens": "/v1/messages", "/v1/v1/messages": "must not end in /v1",
	} {
		a := h.Client.Post(path, "full", "{}")
		text := string(a.Body)
		shape := `{"error":{"message":`
		switch {
		case strings.Contains(path, "messages"):
			shape = `{"type":"error","error":{"type":"not_found_error"`
		case strings.HasPrefix(path, "/api/"):
			shape = `{"error":{"code":404,`
		}
		if a.Status != 404 || !strings.HasPrefix(text, shape) || !strings.Contains(text, want) || a.Header.Get("X-Should-Retry") != "false" {
			t.Errorf("%s: %d %v %s", path, a.Status, a.Header, text)
		}
	}
	for _, path := range []string{"/", "/elsewhere", "/api", "/healthz"} {
		if a := h.Client.Get(path, ""); a.Status != 200 || len(a.Body) != 0 {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

func TestASitesOwnPathsAreNotTakenForAWrongBaseURL(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "models"), []byte("a page"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := harness.Start(t, harness.Setup{Site: "route {\ngatehouse\nrespond /api/tags tags 203\nhandle /api/chat {\nrespond 204\n}\n" +
		"reverse_proxy /openai/* 127.0.0.1:1\nfile_server {\nroot " + root + "\n}\n}"})
	for path, want := range map[string]int{"/models": 200, "/embeddings": 404, "/api/tags": 203, "/api/chat": 204, "/openai/v1/models": 502, "/v1/models": 200} {
		if a := h.Client.Get(path, "full"); a.Status != want || strings.Contains(string(a.Body), "unknown URL") {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}
