package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// StartPriced is Start with prices: 1,000 nano-USD a token of a prompt and 10,000 a token of an
// answer.
func StartPriced(t *testing.T, s Setup) *Gateway {
	t.Helper()
	h := Prepare(t)
	WriteCatalog(h)
	s.Options += "\ncatalog DIR/prices.json\n"
	if err := h.Reload(s); err != nil {
		t.Fatal(err)
	}
	return h
}

// WriteCatalog writes a catalog for the providers: for all models below, a prompt token costs 1,000
// nano-USD, one of output ten times that.
func WriteCatalog(h *Gateway) {
	h.T.Helper()
	var models []string
	for _, name := range []string{"fake/echo", "fake/stall", "fake/usage-all", "fake/usage-more", "fake/no-usage", "fake/usage-zero", "router/usage-zero", "dear/usage-zero", "chatonly/usage-zero", "newer/usage-zero", "fake/err-500", "fake/cut-clean", "chatonly/usage-all", "router/echo", "dear/echo",
		"fake/redirect-307", "private/echo", "private/stall", "private/err-first-event", "private/empty", "private/response-failed", "dead/echo", "notls/echo"} {
		models = append(models, `{"id":"`+name+`","context_length":100000,"price":{"prompt":"1","completion":"10"}}`)
	}
	if err := os.WriteFile(filepath.Join(h.Dir, "prices.json"), []byte(`{"models":[`+strings.Join(models, ",")+`]}`), 0o600); err != nil {
		h.T.Fatal(err)
	}
}
