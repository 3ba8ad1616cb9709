package api

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// Further models are asked by the gateway, within what the key may call; a router that got them would
// evade the key's list and the price. A preset of the account can replace prompt and model.
func TestFurtherModelsAreNotLeftToTheProvider(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, path := range []string{harness.ResponsesV1, harness.ResponsesRouter, harness.ChatV1, harness.ChatRouter} {
		h.Provider.Fake.Reset()
		content := `"input":"x"`
		if path == harness.ChatV1 || path == harness.ChatRouter {
			content = `"messages":[{"role":"user","content":"x"}]`
		}
		a := h.Client.Post(path, "full", `{"model":"router/echo",`+content+`,"models":["fake/echo"],"route":"fallback"}`)
		if a.Status != 200 {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		for _, r := range h.Provider.Fake.Requests() {
			if strings.Contains(string(r.Body), "models") || strings.Contains(string(r.Body), "route") {
				t.Errorf("%s: the provider got %s", path, r.Body)
			}
		}
		a = h.Client.Post(path, "full", `{"model":"router/echo",`+content+`,"models":["openai/other"]}`)
		harness.WantRefusal(t, path, a, 404, "model_not_found")
		a = h.Client.Post(path, "full", `{"model":"router/echo",`+content+`,"preset":"admin"}`)
		harness.WantRefusal(t, path, a, 400, "unsupported_parameter")
	}
	h.Provider.Fake.Reset()
	h.Client.Post(harness.ResponsesV1, "full", `{"model":"fake/echo","input":"x","reasoning":{"effort":"low"},"plugins":[]}`)
	sent := h.Provider.Fake.Requests()
	if len(sent) != 1 || string(sent[0].Body) != `{"model":"echo","input":"x","reasoning":{"effort":"low"}}` {
		t.Errorf("another provider got %+v", sent)
	}
}
