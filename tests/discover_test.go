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
	listed := func() string {
		var ids []string
		list, _ := at(parse(t, h.get("/v1/models", "full").body), "data").([]any)
		for _, m := range list {
			id, _ := at(m, "id").(string)
			ids = append(ids, id)
		}
		return strings.Join(ids, " ")
	}
	if !eventually(func() bool { return listed() == "acme/echo acme/other" }) {
		t.Fatalf("listed %q", listed())
	}
	if a := h.post(chatV1, "full", chat("acme/echo", "")); a.status != 200 {
		t.Errorf("a discovered model: %d %s", a.status, a.body)
	}
	h.upstream.FailModels(500)
	for range 2 { // each reload asks anew; the answer is no list
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
