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
