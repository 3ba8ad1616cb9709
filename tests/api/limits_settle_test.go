package api

import (
	"encoding/json"
	"net/http"
	"strings"
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

// A provider that reports no tokens for a prompt and text does not keep a budget empty.
func TestUsageThatCannotBeTrueIsEstimated(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{
		Keys: harness.FullKey("budget 10usd/total\nmax_output_tokens 1000") + harness.Key("activity", ""),
		Providers: harness.DefaultProviders + "provider dear {\nbase_url PROVIDER/api/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\ncost reported\n}\n" +
			"provider newer {\nbase_url PROVIDER/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\nchat translate\n}\n",
	})
	before := int64(0)
	for _, provider := range []string{"fake", "router", "dear", "chatonly", "newer"} { // the last two translate
		for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1} {
			for _, more := range []string{"", harness.Streaming} {
				a := h.Client.Post(path, "full", harness.Body(path, provider+"/usage-zero", more))
				row := h.Records.RowSoon("request_id=" + a.Header.Get("X-Request-Id"))
				after := harness.Nano(t, h.Records.Key("full").Budgets[0].Spent)
				cost := after - before
				before = after
				if a.Status != 200 || harness.At(row, "usage_source") != "estimated" || cost < 30_000 || cost > 10_000_000 ||
					harness.At(row, "prompt_tokens") == harness.Number("0") || harness.At(row, "completion_tokens") == harness.Number("0") {
					t.Errorf("%s%s of %s: %d, cost %d, row %v", path, more, provider, a.Status, cost, row)
				}
			}
		}
	}
}

func TestOperatorsSeeBudgets(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{
		Keys:    harness.FullKey("budget 1usd/day") + harness.Key("other", "tenant other\nbudget 0.0000001usd/month"),
		Options: "tenant other {\nbudget 5M tokens/week soft\n}\nbudget 100usd/total",
	})
	if a := h.Client.Post(harness.ChatV1, "full", `{"model":"fake/usage-all","max_tokens":50,"messages":[{"role":"user","content":"x"}]}`); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	var got []string
	for _, b := range harness.Balances(t) {
		got = append(got, b.Subject+" "+b.Budget.String())
		if want := int64(501_000); b.Subject != "key:other" && b.Subject != "tenant:other" && b.Spent != want {
			t.Errorf("%s: spent %d, want %d", b.Subject, b.Spent, want)
		}
	}
	if all := strings.Join(got, ", "); all != "gateway 100usd/total, key:full 1usd/day, key:other 0.0000001usd/month, tenant:other 5000000 tokens/week soft" {
		t.Error(all)
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
