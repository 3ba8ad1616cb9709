package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

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
