package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// echoing is a provider that refuses every call and shows its credential and address.
func echoing(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		message := fmt.Sprintf("%s with %q and %q", r.URL, r.Header.Get("Api-Key"), r.Header.Get("Authorization"))
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message}})
	}))
	t.Cleanup(server.Close)
	return server
}

// Providers that do not take their key as a bearer token get it in the header that they name.
func TestAProviderGetsItsHeaderAndQuery(t *testing.T) {
	t.Setenv("AZURE_KEY", "azure-canary-0123456789")
	server := echoing(t)
	h := start(t, setup{providers: "provider azure {\nbase_url " + server.URL + "/openai/deployments/gpt-x\nheader api-key {env.AZURE_KEY}\nquery api-version 2024-10-21\nmodels gpt-x\n}"})
	a := h.post(chatV1, "full", chat("azure/gpt-x", ""))
	want := `/openai/deployments/gpt-x/chat/completions?api-version=2024-10-21 with \"[redacted]\" and \"\"`
	if a.status != 400 || !strings.Contains(string(a.body), want) {
		t.Errorf("%d %s, want %s", a.status, a.body, want)
	}
}

// A credential that was rotated while the gateway runs is used, and known to nobody else.
func TestARotatedKeyFileIsUsedAndRedacted(t *testing.T) {
	server := echoing(t)
	dir := t.TempDir()
	key, header := filepath.Join(dir, "key"), filepath.Join(dir, "header")
	rewrite := func(path, content string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(content+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	rewrite(key, "file-canary-one-123456")
	rewrite(header, "head-canary-one-123456")
	h := start(t, setup{providers: "provider files {\nbase_url " + server.URL + "/v1\napi_key {file." + key + "}\nheader api-key \"Key {file." + header + "}\"\nmodels m\n}"})
	rewrite(key, "file-canary-two-123456")
	rewrite(header, "head-canary-two-123456")
	a := h.post(chatV1, "full", chat("files/m", ""))
	if want := `with \"Key [redacted]\" and \"Bearer [redacted]\"`; a.status != 400 || !strings.Contains(string(a.body), want) || strings.Contains(string(a.body), "canary") {
		t.Errorf("%d %s, want %s", a.status, a.body, want)
	}
	if lines := h.logLines("the file of a secret has changed; its new content is used"); len(lines) != 2 || strings.Contains(fmt.Sprint(lines), "canary") {
		t.Errorf("logged %q", lines)
	}
}
