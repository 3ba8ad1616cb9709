package api

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestDiscoveredModelsAppearAndStay(t *testing.T) {
	discovering := harness.Setup{Providers: "provider acme {\nbase_url PROVIDER/v1\napi_key {env.PROVIDER_KEY}\ndiscover 10s\n}"}
	h := harness.Start(t, harness.Setup{})
	h.Provider.Fake.SetModels([]string{"echo", "other"})
	h.Become(discovering)
	listed := func() string { return listed(h) }
	if !harness.Eventually(func() bool { return listed() == "acme/echo acme/other" }) {
		t.Fatalf("listed %q", listed())
	}
	if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("acme/echo", "")); a.Status != 200 {
		t.Errorf("a discovered model: %d %s", a.Status, a.Body)
	}
	h.Provider.Fake.FailModels(500)
	for range 2 { // each reload asks again; the answer is not a list
		failures := len(harness.Log.Lines("the last list stays"))
		h.Become(discovering)
		if got := listed(); got != "acme/echo acme/other" {
			t.Errorf("just after the reload: listed %q", got)
		}
		if !harness.Eventually(func() bool { return len(harness.Log.Lines("the last list stays")) > failures }) {
			t.Fatal("the provider was not asked again")
		}
		if got := listed(); got != "acme/echo acme/other" {
			t.Errorf("after the failed refresh: listed %q", got)
		}
	}
	h.Provider.Fake.SetModels([]string{"new"})
	h.Become(discovering)
	if !harness.Eventually(func() bool { return listed() == "acme/new" }) {
		t.Errorf("after a good refresh: listed %q", listed())
	}
	if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("acme/echo", "")); a.Status != 404 {
		t.Errorf("a model that the provider no more lists: %d %s", a.Status, a.Body)
	}
}

// listed is what the list of models shows, by id.
func listed(h *harness.Gateway) string {
	h.T.Helper()
	var ids []string
	list, _ := harness.At(harness.Parse(h.T, h.Client.Get("/v1/models", "full").Body), "data").([]any)
	for _, m := range list {
		id, _ := harness.At(m, "id").(string)
		ids = append(ids, id)
	}
	return strings.Join(ids, " ")
}

// A model that the provider lists can be called, and no other, unless the configuration says so.
func TestStarIsTheProvidersOwnList(t *testing.T) {
	provider := func(options string) harness.Setup {
		return harness.Setup{
			Site: "gatehouse_health\ngatehouse", Options: "alias named acme/tools",
			Providers: "provider acme {\nbase_url PROVIDER/v1\napi_key {env.PROVIDER_KEY}\nmodels *\n" + options + "\n}\n",
		}
	}
	h := harness.Prepare(t)
	h.Provider.Fake.FailModels(503)
	if err := h.Reload(provider("")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1} {
		a := h.Client.Post(path, "full", harness.Body(path, "acme/echo", ""))
		harness.WantRefusal(t, path, a, 503, "no_provider_available")
		if a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", path)
		}
	}
	for _, path := range []string{"/v1/models/acme/echo", "/api/v1/model/acme/echo"} {
		if a := h.Client.Get(path, "full"); a.Status != 503 {
			t.Errorf("%s before the first list: %d %s", path, a.Status, a.Body)
		}
	}
	if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("named", "")); a.Status != 200 || listed(h) != "acme/tools named" {
		t.Errorf("a target of an alias before the first list: %d %s, listed %q", a.Status, a.Body, listed(h))
	}
	if a := h.Client.Get("/readyz", ""); a.Status != 200 || harness.At(harness.Parse(t, a.Body), "parts", "providers") != "degraded" {
		t.Errorf("before the first list: %d %s", a.Status, a.Body)
	}
	h.Provider.Fake.SetModels([]string{"echo"})
	if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("acme/echo", "")); a.Status != 200 {
		t.Errorf("a call that needs the list: %d %s", a.Status, a.Body)
	}
	if got := listed(h); got != "acme/echo acme/tools named" {
		t.Errorf("listed %q", got)
	}
	for range 2 {
		harness.WantRefusal(t, harness.ChatV1, h.Client.Post(harness.ChatV1, "full", harness.Chat("acme/usage-all", "")), 404, "model_not_found")
	}
	if lines := harness.Log.Lines("that its provider does not list"); len(lines) != 1 || !strings.Contains(lines[0], "acme/usage-all") {
		t.Errorf("logged %q", lines)
	}
	row := h.Client.Get("/api/v1/activity?model=acme/usage-all", "full")
	if by := harness.At(harness.Parse(t, row.Body), "data", 0, "refused_by"); by != `provider acme does not list it: write "models NAME" or "discover off" in its block` {
		t.Errorf("refused by %q: %s", by, row.Body)
	}
	if lines := harness.Log.Lines("any model name is sent to this provider"); len(lines) != 0 {
		t.Errorf("a warning for nothing: %s", lines[0])
	}

	h.Become(provider("discover off"))
	if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("acme/usage-all", "")); a.Status != 200 || listed(h) != "named" {
		t.Errorf("with discover off: %d %s, listed %q", a.Status, a.Body, listed(h))
	}
	if lines := harness.Log.Lines("any model name is sent to this provider"); len(lines) != 1 {
		t.Errorf("%d warnings", len(lines))
	}
}
