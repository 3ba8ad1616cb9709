package api

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestABudgetIsSpentAndRefuses(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{Keys: harness.FullKey("budget 0.002usd/day\nmax_output_tokens 100") + harness.Key("activity", "")})
	body := `{"model":"fake/usage-all","messages":[{"role":"user","content":"hello"}]}`
	a := h.Client.Post(harness.ChatV1, "full", body)
	if a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if sent := h.Provider.Request(0); !jsontest.Has(t, sent.Body, `{"max_completion_tokens":100}`) {
		t.Errorf("the provider got %s", sent.Body)
	}
	row := h.Records.Row(a.Header.Get("X-Request-Id"))
	if harness.At(row, "output_cap") != harness.Number("100") || harness.At(row, "usage_source") != "provider" {
		t.Errorf("row %v", row)
	}
	info := h.Records.Key("full")
	spent := harness.Nano(t, info.Budgets[0].Spent)
	if spent != 1_001_000 || harness.Nano(t, info.Daily) != spent || harness.Nano(t, info.Limit) != 2_000_000 || harness.Nano(t, info.Remaining) != 2_000_000-spent ||
		info.Reset != "daily" || harness.Nano(t, info.Budgets[0].Reserved) != 0 || info.Budgets[0].ResetsAt == "" {
		t.Errorf("the key says %+v", info)
	}
	for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1, harness.ResponsesRouter} {
		a := h.Client.Post(path, "full", harness.Body(path, "fake/usage-all", ""))
		harness.WantRefusal(t, path, a, 402, "budget_exceeded")
		wantHeaders(t, a, "Retry-After", "", "retry-after-ms", "")
		if harness.IsOpenRouter(path) && harness.At(harness.Parse(t, a.Body), "error", "metadata", "limit_source") != "key:full" {
			t.Errorf("%s: %s", path, a.Body)
		}
	}
	if n := len(h.Provider.Fake.Requests()); n != 1 {
		t.Errorf("%d calls reached the provider", n)
	}
}

func TestAReloadKeepsWhatWasSpent(t *testing.T) {
	keys := harness.FullKey("budget 1usd/month\nbudget 5M tokens/total")
	h := harness.StartPriced(t, harness.Setup{Keys: keys})
	body := `{"model":"fake/usage-all","max_tokens":50,"messages":[{"role":"user","content":"x"}]}`
	if a := h.Client.Post(harness.ChatV1, "full", body); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	before := fmt.Sprint(h.Records.Key("full").Budgets)
	h.Become(harness.Setup{Keys: keys, Options: "catalog DIR/prices.json"})
	if after := fmt.Sprint(h.Records.Key("full").Budgets); after != before || !strings.Contains(after, "51 ") && !strings.Contains(after, "51}") && !strings.Contains(after, " 51") {
		t.Errorf("before %s, after %s", before, after)
	}
	h.Become(harness.Setup{Keys: harness.FullKey("budget 0.0001usd/month"), Options: "catalog DIR/prices.json"})
	harness.WantRefusal(t, harness.ChatV1, h.Client.Post(harness.ChatV1, "full", body), 402, "budget_exceeded")
}

// Streams that a kill -9 interrupted are charged what they had reserved.
func TestAKilledProcessHasSpentWhatItsStreamsReserved(t *testing.T) {
	h := harness.Vacant(t)
	harness.WriteCatalog(h)
	s := harness.Setup{Keys: harness.FullKey("budget 10usd/total\nmax_output_tokens 100"), Options: "catalog DIR/prices.json"}
	c := h.Run(s)
	const streams = 100
	for range streams {
		h.Client.Open(h.Client.Request(harness.ChatV1, "full", `{"model":"fake/stall","stream":true,"messages":[{"role":"user","content":"x"}]}`)).MustNext()
	}
	b := h.Records.Key("full").Budgets[0]
	reserved := harness.Nano(t, b.Reserved)
	if reserved < streams*1_000_000 || harness.Nano(t, b.Spent) != 0 {
		t.Fatalf("before: %+v", b)
	}
	c.Signal(syscall.SIGKILL)
	_ = c.Wait() // its error reports the kill
	h.Run(s)
	b = h.Records.Key("full").Budgets[0]
	if harness.Nano(t, b.Spent) != reserved || harness.Nano(t, b.Reserved) != 0 {
		t.Errorf("after: %+v, want %d spent", b, reserved)
	}
	rows, _ := harness.At(harness.Parse(t, h.Client.Get("/api/v1/activity?limit=200", "full").Body), "data").([]any)
	crashed := 0
	for _, row := range rows {
		if harness.At(row, "usage_source") == "crashed" && harness.At(row, "key") == "full" {
			crashed++
		}
	}
	if crashed != streams {
		t.Errorf("%d rows of crashed calls, want %d", crashed, streams)
	}
}
