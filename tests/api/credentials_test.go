package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
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
	h := harness.Start(t, harness.Setup{Providers: "provider files {\nbase_url " + server.URL + "/v1\napi_key {file." + key + "}\nheader api-key \"Key {file." + header + "}\"\nmodels m\n}"})
	rewrite(key, "file-canary-two-123456")
	rewrite(header, "head-canary-two-123456")
	a := h.Client.Post(harness.ChatV1, "full", harness.Chat("files/m", ""))
	if want := `with \"Key [redacted]\" and \"Bearer [redacted]\"`; a.Status != 400 || !strings.Contains(string(a.Body), want) || strings.Contains(string(a.Body), "canary") {
		t.Errorf("%d %s, want %s", a.Status, a.Body, want)
	}
	if lines := harness.Log.Lines("the file of a secret has changed; its new content is used"); len(lines) != 2 || strings.Contains(fmt.Sprint(lines), "canary") {
		t.Errorf("logged %q", lines)
	}
}
