package tests

import (
	"strings"
	"testing"
)

// Further models are asked by the gateway, within what the key may call; a router that got them would
// evade the key's list and the price. A preset of the account can replace prompt and model.
func TestFurtherModelsAreNotLeftToTheProvider(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{responsesV1, responsesOR, chatV1, chatRouter} {
		h.upstream.Reset()
		content := `"input":"x"`
		if path == chatV1 || path == chatRouter {
			content = `"messages":[{"role":"user","content":"x"}]`
		}
		a := h.post(path, "full", `{"model":"router/echo",`+content+`,"models":["fake/echo"],"route":"fallback"}`)
		if a.status != 200 {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		for _, r := range h.upstream.Requests() {
			if strings.Contains(string(r.Body), "models") || strings.Contains(string(r.Body), "route") {
				t.Errorf("%s: the provider got %s", path, r.Body)
			}
		}
		a = h.post(path, "full", `{"model":"router/echo",`+content+`,"models":["openai/other"]}`)
		wantRefusal(t, path, a, 404, "model_not_found")
		a = h.post(path, "full", `{"model":"router/echo",`+content+`,"preset":"admin"}`)
		wantRefusal(t, path, a, 400, "unsupported_parameter")
	}
	h.upstream.Reset()
	h.post(responsesV1, "full", `{"model":"fake/echo","input":"x","reasoning":{"effort":"low"},"plugins":[]}`)
	sent := h.upstream.Requests()
	if len(sent) != 1 || string(sent[0].Body) != `{"model":"echo","input":"x","reasoning":{"effort":"low"}}` {
		t.Errorf("another provider got %+v", sent)
	}
}

// The main example of OpenRouter's guide has no model.
func TestTheFirstOfModelsIsTheModel(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{responsesV1, responsesOR, chatV1, chatRouter} {
		content := `"input":"x"`
		if path == chatV1 || path == chatRouter {
			content = `"messages":[{"role":"user","content":"x"}]`
		}
		h.upstream.Reset()
		a := h.post(path, "full", `{"models":["fake/err-500","fake/echo"],`+content+`}`)
		if a.status != 200 || at(parse(t, a.body), "model") != "fake/echo" {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		sent := h.upstream.Requests() // err-500 may be cooling
		if body := string(sent[len(sent)-1].Body); body != `{`+content+`,"model":"echo"}` {
			t.Errorf("%s: the provider got %s", path, body)
		}
		if row := h.row(a.header.Get("X-Request-Id")); at(row, "model") != "fake/err-500" {
			t.Errorf("%s: row %v", path, row)
		}
		a = h.post(path, "full", `{"models":["openai/other","fake/echo"],`+content+`}`)
		wantRefusal(t, path, a, 404, "model_not_found")
	}
}
