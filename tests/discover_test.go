package tests

import (
	"strings"
	"testing"
)

func TestDiscoveredModelsAppearAndStay(t *testing.T) {
	discovering := setup{providers: "provider acme {\nbase_url PROVIDER/v1\napi_key {env.PROVIDER_KEY}\ndiscover 10s\n}"}
	h := start(t, setup{})
	h.upstream.SetModels([]string{"echo", "other"})
	h.change(h.caddyfile(discovering))
	listed := h.listed
	if !eventually(func() bool { return listed() == "acme/echo acme/other" }) {
		t.Fatalf("listed %q", listed())
	}
	if a := h.post(chatV1, "full", chat("acme/echo", "")); a.status != 200 {
		t.Errorf("a discovered model: %d %s", a.status, a.body)
	}
	h.upstream.FailModels(500)
	for range 2 { // each reload asks again; the answer is not a list
		failures := len(h.logLines("the last list stays"))
		h.change(h.caddyfile(discovering))
		if got := listed(); got != "acme/echo acme/other" {
			t.Errorf("just after the reload: listed %q", got)
		}
		if !eventually(func() bool { return len(h.logLines("the last list stays")) > failures }) {
			t.Fatal("the provider was not asked again")
		}
		if got := listed(); got != "acme/echo acme/other" {
			t.Errorf("after the failed refresh: listed %q", got)
		}
	}
	h.upstream.SetModels([]string{"new"})
	h.change(h.caddyfile(discovering))
	if !eventually(func() bool { return listed() == "acme/new" }) {
		t.Errorf("after a good refresh: listed %q", listed())
	}
	if a := h.post(chatV1, "full", chat("acme/echo", "")); a.status != 404 {
		t.Errorf("a model that the provider no more lists: %d %s", a.status, a.body)
	}
}

// listed is what the list of models shows, by id.
func (h *harness) listed() string {
	h.t.Helper()
	var ids []string
	list, _ := at(parse(h.t, h.get("/v1/models", "full").body), "data").([]any)
	for _, m := range list {
		id, _ := at(m, "id").(string)
		ids = append(ids, id)
	}
	return strings.Join(ids, " ")
}

// A model that the provider lists can be called, and no other, unless the configuration says so.
func TestStarIsTheProvidersOwnList(t *testing.T) {
	provider := func(options string) setup {
		return setup{
			site: "gatehouse_health\ngatehouse", options: "alias named acme/tools",
			providers: "provider acme {\nbase_url PROVIDER/v1\napi_key {env.PROVIDER_KEY}\nmodels *\n" + options + "\n}\n",
		}
	}
	h := prepare(t)
	h.upstream.FailModels(503)
	if err := h.reload(provider("")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{chatV1, chatRouter, responsesV1} {
		a := h.post(path, "full", bodyFor(path, "acme/echo", ""))
		wantRefusal(t, path, a, 503, "no_provider_available")
		if a.header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", path)
		}
	}
	for _, path := range []string{"/v1/models/acme/echo", "/api/v1/model/acme/echo"} {
		if a := h.get(path, "full"); a.status != 503 {
			t.Errorf("%s before the first list: %d %s", path, a.status, a.body)
		}
	}
	if a := h.post(chatV1, "full", chat("named", "")); a.status != 200 || h.listed() != "acme/tools named" {
		t.Errorf("a target of an alias before the first list: %d %s, listed %q", a.status, a.body, h.listed())
	}
	if a := h.get("/readyz", ""); a.status != 200 || at(parse(t, a.body), "parts", "providers") != "degraded" {
		t.Errorf("before the first list: %d %s", a.status, a.body)
	}
	h.upstream.SetModels([]string{"echo"})
	if a := h.post(chatV1, "full", chat("acme/echo", "")); a.status != 200 {
		t.Errorf("a call that needs the list: %d %s", a.status, a.body)
	}
	if got := h.listed(); got != "acme/echo acme/tools named" {
		t.Errorf("listed %q", got)
	}
	for range 2 {
		wantRefusal(t, chatV1, h.post(chatV1, "full", chat("acme/usage-all", "")), 404, "model_not_found")
	}
	if lines := h.logLines("that its provider does not list"); len(lines) != 1 || !strings.Contains(lines[0], "acme/usage-all") {
		t.Errorf("logged %q", lines)
	}
	row := h.get("/api/v1/activity?model=acme/usage-all", "full")
	if by := at(parse(t, row.body), "data", 0, "refused_by"); by != `provider acme does not list it: write "models NAME" or "discover off" in its block` {
		t.Errorf("refused by %q: %s", by, row.body)
	}
	if lines := h.logLines("any model name is sent to this provider"); len(lines) != 0 {
		t.Errorf("a warning for nothing: %s", lines[0])
	}

	h.change(h.caddyfile(provider("discover off")))
	if a := h.post(chatV1, "full", chat("acme/usage-all", "")); a.status != 200 || h.listed() != "named" {
		t.Errorf("with discover off: %d %s, listed %q", a.status, a.body, h.listed())
	}
	if lines := h.logLines("any model name is sent to this provider"); len(lines) != 1 {
		t.Errorf("%d warnings", len(lines))
	}
}
