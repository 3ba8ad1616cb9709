package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// Every ending is settled, and the row says how its usage was found.
func TestEveryEndingIsSettled(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{
		Keys:      harness.FullKey("budget 10usd/total\nmax_output_tokens 100\nunpriced allow") + harness.Key("activity", ""),
		Providers: harness.DefaultProviders + "provider dear {\nbase_url PROVIDER/api/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\ncost reported\n}\n",
	})
	body := func(model, more string) string {
		return `{"model":"` + model + `","messages":[{"role":"user","content":"x"}]` + more + `}`
	}
	before := int64(0)
	for _, c := range []struct {
		name, body, source string
		least, most        int64 // nano-USD
	}{
		{"the provider's usage", body("fake/usage-all", ""), "provider", 1_001_000, 1_001_000},
		{"more than was reserved", body("fake/usage-more", ""), "provider", 2_001_000, 2_001_000},
		{"translated", `{"model":"chatonly/usage-all","messages":[{"role":"user","content":"x"}]}`, "provider", 1_001_000, 1_001_000},
		{"an error of the provider", body("fake/err-500", ""), "none", 0, 0},
		{"no usage", body("fake/no-usage", ""), "estimated", 30_000, 1_100_000},
		{"a stream without usage", body("fake/no-usage", harness.Streaming), "estimated", 40_000, 400_000},
		{"a cut stream", body("fake/cut-clean", harness.Streaming), "estimated", 30_000, 400_000},
		{"the catalog's price, not the reported one", body("router/echo", ""), "provider", 31_000, 31_000},
		{"the reported cost", body("dear/echo", ""), "provider", 40_000, 40_000},
		{"never sent", body("fake/usage-all", `,"max_tokens":0`), "none", 0, 0},
		{"no price", body("fake/crlf", ""), "provider", 0, 0},
	} {
		a := h.Client.Post(harness.ChatV1, "full", c.body)
		row := h.Records.Row(a.Header.Get("X-Request-Id"))
		b := h.Records.Key("full").Budgets[0]
		after := harness.Nano(t, b.Spent)
		cost := after - before
		before = after
		if harness.At(row, "usage_source") != c.source || cost < c.least || cost > c.most || harness.Nano(t, b.Reserved) != 0 {
			t.Errorf("%s (%d): cost %d, reserved %s, row %v", c.name, a.Status, cost, b.Reserved, row)
		}
		if usd, ok := harness.At(row, "usage").(json.Number); c.name != "no price" && (!ok || harness.Nano(t, usd) != cost) {
			t.Errorf("%s: the row says %v, the ledger %d", c.name, harness.At(row, "usage"), cost)
		}
	}
}

// The event comes once, not with every refusal.
func TestAnExhaustedBudgetIsAnEvent(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{Keys: harness.FullKey("budget 100 tokens/total\nunpriced allow\nmax_output_tokens 50"), Options: ""})
	body := `{"model":"fake/usage-more","messages":[]}`
	h.Client.Post(harness.ChatV1, "full", body)
	refused := 0
	for range 20 {
		if h.Client.Post(harness.ChatV1, "full", body).Status == http.StatusPaymentRequired {
			refused++
		}
	}
	if refused < 2 {
		t.Fatalf("%d calls were refused", refused)
	}
	if !harness.Eventually(func() bool { return jsontest.Has(t, harness.Log.Text(), `{"name":"budget_exhausted"}`) }) {
		t.Fatal("no event")
	}
	if n := jsontest.Count(t, harness.Log.Text(), `{"msg":"event","name":"budget_exhausted"}`); n != 1 {
		t.Errorf("%d events", n)
	}
}
