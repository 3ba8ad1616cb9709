package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// writeCatalog writes a catalog for the providers: for all models below, a prompt token costs 1,000
// nano-USD, one of output ten times that.
func (h *harness) writeCatalog() {
	h.t.Helper()
	var models []string
	for _, name := range []string{"fake/echo", "fake/stall", "fake/usage-all", "fake/usage-more", "fake/no-usage", "fake/usage-zero", "router/usage-zero", "dear/usage-zero", "chatonly/usage-zero", "newer/usage-zero", "fake/err-500", "fake/cut-clean", "chatonly/usage-all", "router/echo", "dear/echo",
		"fake/redirect-307", "private/echo", "private/stall", "private/err-first-event", "private/empty", "private/response-failed", "dead/echo", "notls/echo"} {
		models = append(models, `{"id":"`+name+`","context_length":100000,"price":{"prompt":"1","completion":"10"}}`)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "prices.json"), []byte(`{"models":[`+strings.Join(models, ",")+`]}`), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// startPriced is start with prices: 1,000 nano-USD a token of a prompt and 10,000 a token of an
// answer.
func startPriced(t *testing.T, s setup) *harness {
	t.Helper()
	h := prepare(t)
	h.writeCatalog()
	s.options += "\ncatalog DIR/prices.json\n"
	if err := h.reload(s); err != nil {
		t.Fatal(err)
	}
	return h
}

// keyInfo is the answer of GET /api/v1/key.
type keyInfo struct {
	Limit     json.Number `json:"limit"`
	Remaining json.Number `json:"limit_remaining"`
	Reset     string      `json:"limit_reset"`
	Usage     json.Number `json:"usage"`
	Daily     json.Number `json:"usage_daily"`
	Budgets   []struct {
		Unit, Period           string
		Limit, Spent, Reserved json.Number
		ResetsAt               string `json:"resets_at"`
	}
}

func (h *harness) keyInfo(key string) keyInfo {
	h.t.Helper()
	var body struct{ Data keyInfo }
	a := h.get("/api/v1/key", key)
	if err := json.Unmarshal(a.body, &body); err != nil || a.status != 200 {
		h.t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return body.Data
}

func nano(t *testing.T, n json.Number) int64 {
	t.Helper()
	f, err := n.Float64()
	if err != nil {
		t.Fatal(err)
	}
	return int64(f*1e9 + 0.5)
}

func TestABudgetIsSpentAndRefuses(t *testing.T) {
	h := startPriced(t, setup{keys: limitedKey("budget 0.002usd/day\nmax_output_tokens 100") + keyBlock("activity", "")})
	body := `{"model":"fake/usage-all","messages":[{"role":"user","content":"hello"}]}`
	a := h.post(chatV1, "full", body)
	if a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if sent := h.upstreamCall(0); !strings.Contains(string(sent.Body), `"max_completion_tokens":100`) {
		t.Errorf("the provider got %s", sent.Body)
	}
	row := h.row(a.header.Get("X-Request-Id"))
	if at(row, "output_cap") != number("100") || at(row, "usage_source") != "provider" {
		t.Errorf("row %v", row)
	}
	info := h.keyInfo("full")
	spent := nano(t, info.Budgets[0].Spent)
	if spent != 1_001_000 || nano(t, info.Daily) != spent || nano(t, info.Limit) != 2_000_000 || nano(t, info.Remaining) != 2_000_000-spent ||
		info.Reset != "daily" || nano(t, info.Budgets[0].Reserved) != 0 || info.Budgets[0].ResetsAt == "" {
		t.Errorf("the key says %+v", info)
	}
	for _, path := range []string{chatV1, chatRouter, responsesV1, responsesOR} {
		a := h.post(path, "full", `{"model":"fake/usage-all","messages":[],"input":"hello"}`)
		wantRefusal(t, path, a, 402, "budget_exceeded")
		wantHeaders(t, a, "Retry-After", "", "retry-after-ms", "")
		if isOpenRouter(path) && at(parse(t, a.body), "error", "metadata", "limit_source") != "key:full" {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	if n := len(h.upstream.Requests()); n != 1 {
		t.Errorf("%d calls reached the provider", n)
	}
}

func TestWhatCannotBePricedIsRefusedUnderAHardBudget(t *testing.T) {
	h := startPriced(t, setup{keys: limitedKey("budget 5usd/day\nhosted_tools") + keyBlock("chat", "budget 5usd/day soft") + keyBlock("other", "budget 5usd/day\nunpriced allow")})
	for name, body := range map[string]string{
		"an unknown price":    `{"model":"fake/crlf","messages":[{"role":"user","content":"x"}]}`,
		"a file":              `{"model":"fake/echo","messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"data:application/pdf;base64,AAAA"}}]}]}`,
		"an unknown part":     `{"model":"fake/echo","messages":[{"role":"user","content":[{"type":"video_url","video_url":{"url":"https://x.example"}}]}]}`,
		"a part without type": `{"model":"fake/echo","messages":[{"role":"user","content":[{"text":"x"}]}]}`,
		"a hosted tool":       `{"model":"fake/echo","messages":[{"role":"user","content":"x"}],"web_search_options":{}}`,
		"a dearer tier":       `{"model":"fake/echo","messages":[{"role":"user","content":"x"}],"service_tier":"priority"}`,
	} {
		wantRefusal(t, chatV1, h.post(chatV1, "full", body), 402, "cannot_be_priced")
		for _, key := range []string{"chat", "other"} {
			if strings.Contains(body, "web_search") {
				continue // not for these keys
			}
			if a := h.post(chatV1, key, body); a.status != 200 {
				t.Errorf("%s, key %s: %d %s", name, key, a.status, a.body)
			}
		}
	}
	for name, body := range map[string]string{
		"text":     `{"model":"fake/echo","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`,
		"an image": `{"model":"fake/echo","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}]}]}`,
	} {
		if a := h.post(chatV1, "full", body); a.status != 200 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

// A thousand concurrent calls are worth ten times the budget. One provider uses all that it may,
// another twice as much.
func TestABudgetHoldsUnderAThousandConcurrentCalls(t *testing.T) {
	for model, over := range map[string]bool{"usage-all": false, "usage-more": true} {
		t.Run(model, func(t *testing.T) {
			// A call reserves 77 prompt tokens and 100 of output at most.
			h := startPriced(t, setup{keys: limitedKey("budget 0.1usd/day\nmax_output_tokens 100") + keyBlock("other", "")})
			body := `{"model":"fake/` + model + `","messages":[{"role":"user","content":"x"}]}`
			var wg sync.WaitGroup
			statuses := make(chan int, 1000)
			for range 1000 {
				wg.Go(func() { statuses <- h.post(chatV1, "full", body).status })
			}
			done := make(chan struct{})
			go func() { wg.Wait(); close(done) }()
			samples := 0
			for running := true; running; samples++ {
				select {
				case <-done:
					running = false
				default:
				}
				for _, b := range balances(t) {
					if b.Spent+b.Reserved > b.Budget.Limit && !over {
						t.Fatalf("spent %d and reserved %d of %d", b.Spent, b.Reserved, b.Budget.Limit)
					}
				}
			}
			close(statuses)
			got := map[int]int{}
			for status := range statuses {
				got[status]++
			}
			b := h.keyInfo("full").Budgets[0]
			spent := nano(t, b.Spent)
			t.Logf("%d samples, answers %v, spent %s of %s", samples, got, b.Spent, b.Limit)
			// On a busy machine reservations may take longer than a call waits for them. A call
			// with 503 is not sent either.
			if got[200]+got[503] == 0 || got[402] == 0 || got[200]+got[402]+got[503] != 1000 || nano(t, b.Reserved) != 0 {
				t.Errorf("answers %v, reserved %s", got, b.Reserved)
			}
			each := int64(1_001_000)
			if over {
				each = 2_001_000
			}
			if want := each * int64(got[200]); spent != want {
				t.Errorf("spent %d, want %d for %d calls", spent, want, got[200])
			}
			if !over && spent > 100_000_000 {
				t.Errorf("spent %d of 100000000", spent)
			}
			if n := len(h.upstream.Requests()); n != got[200] {
				t.Errorf("%d calls reached the provider and %d were answered", n, got[200])
			}
		})
	}
}

// balances returns the balances of the running configuration.
func balances(t *testing.T) []limits.Balance {
	t.Helper()
	app, err := caddy.ActiveContext().AppIfConfigured(caddykit.AppName)
	if err != nil {
		t.Fatal(err)
	}
	all, err := app.(caddykit.App).Gateway().Budgets().All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAReloadKeepsWhatWasSpent(t *testing.T) {
	keys := limitedKey("budget 1usd/month\nbudget 5M tokens/total")
	h := startPriced(t, setup{keys: keys})
	body := `{"model":"fake/usage-all","max_tokens":50,"messages":[{"role":"user","content":"x"}]}`
	if a := h.post(chatV1, "full", body); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	before := fmt.Sprint(h.keyInfo("full").Budgets)
	h.change(h.caddyfile(setup{keys: keys, options: "catalog DIR/prices.json"}))
	if after := fmt.Sprint(h.keyInfo("full").Budgets); after != before || !strings.Contains(after, "51 ") && !strings.Contains(after, "51}") && !strings.Contains(after, " 51") {
		t.Errorf("before %s, after %s", before, after)
	}
	h.change(h.caddyfile(setup{keys: limitedKey("budget 0.0001usd/month"), options: "catalog DIR/prices.json"}))
	wantRefusal(t, chatV1, h.post(chatV1, "full", body), 402, "budget_exceeded")
}

// Streams that a kill -9 interrupted are charged what they had reserved.
func TestAKilledProcessHasSpentWhatItsStreamsReserved(t *testing.T) {
	h := vacant(t)
	h.writeCatalog()
	s := setup{keys: limitedKey("budget 10usd/total\nmax_output_tokens 100"), options: "catalog DIR/prices.json"}
	c := h.run(s)
	const streams = 100
	for range streams {
		h.open(h.request(chatV1, "full", `{"model":"fake/stall","stream":true,"messages":[{"role":"user","content":"x"}]}`)).mustNext()
	}
	b := h.keyInfo("full").Budgets[0]
	reserved := nano(t, b.Reserved)
	if reserved < streams*1_000_000 || nano(t, b.Spent) != 0 {
		t.Fatalf("before: %+v", b)
	}
	c.signal(syscall.SIGKILL)
	_ = c.wait() // its error reports the kill
	h.run(s)
	b = h.keyInfo("full").Budgets[0]
	if nano(t, b.Spent) != reserved || nano(t, b.Reserved) != 0 {
		t.Errorf("after: %+v, want %d spent", b, reserved)
	}
	rows, _ := at(parse(t, h.get("/api/v1/activity?limit=200", "full").body), "data").([]any)
	crashed := 0
	for _, row := range rows {
		if at(row, "usage_source") == "crashed" && at(row, "key") == "full" {
			crashed++
		}
	}
	if crashed != streams {
		t.Errorf("%d rows of crashed calls, want %d", crashed, streams)
	}
}
