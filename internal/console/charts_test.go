package console

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	sqliteactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// chartsNow is when the pages with charts are visited: a Monday.
var chartsNow = time.Date(2026, 11, 23, 2, 20, 0, 0, time.UTC)

// chartsAPI has the public routes that these pages ask: sums from real records, the rest as given.
type chartsAPI struct {
	t       testing.TB
	log     activity.Log
	key     *keys.Key
	answers map[string]string // by path; "" is 404
	asked   []string
	busy    bool // too many calls for series by the minute, and of what callers say
}

// newChartsAPI returns routes for a key with all scopes, and the calls of these records.
func newChartsAPI(t testing.TB, records ...activity.Record) *chartsAPI {
	t.Helper()
	st, err := store.Open(t.TempDir(), store.Options{Schemas: []store.Schema{sqliteactivity.Schema}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	log := sqliteactivity.New(st)
	for i := range records {
		log.Append(&records[i])
	}
	key := &keys.Key{Name: "ops", Tenant: "acme", Scopes: 1<<16 - 1, AllTenants: true}
	return &chartsAPI{t: t, log: log, key: key, answers: map[string]string{}}
}

func (a *chartsAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.asked = append(a.asked, r.URL.Path)
	if r.URL.Path != "/api/v1/activity/series" {
		answer := a.answers[r.URL.Path]
		if answer == "" {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"error":{"message":"there is no such route","code":"unknown_url"}}`
		}
		_, _ = io.WriteString(w, answer)
		return
	}
	if a.busy && r.URL.Query().Get("step") == "minute" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"step: minute reads each call","code":400,"metadata":{"error_type":"invalid_request","param":"step"}}}`)
		return
	}
	if q := r.URL.Query(); a.busy && (slices.Contains(saidNames, q.Get("by")) || q.Has("end_user")) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"by: end_user or app reads each call","code":400,"metadata":{"error_type":"invalid_request","param":"by"}}}`)
		return
	}
	age := time.Duration(0)
	if r.Header.Get("Cache-Control") != "" {
		age = time.Minute
	}
	answer, err := report.Series(r.Context(), a.log, report.Query{Values: r.URL.Query(), See: a.key.Tenants, MaxAge: age}, chartsNow)
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"message":%q,"code":400,"metadata":{"error_type":"invalid_request"}}}`, err)
	case answer.CSV != nil:
		if err := answer.CSV.Write(r.Context(), w); err != nil {
			a.t.Error(err)
		}
	default:
		_, _ = w.Write(answer.JSON)
	}
}

func (a *chartsAPI) api(request.Caller) http.Handler { return a }

// visit returns the answer of a page to the key.
func (a *chartsAPI) visit(path string, header ...string) *httptest.ResponseRecorder {
	a.t.Helper()
	u, err := url.Parse(path)
	if err != nil {
		a.t.Fatal(err)
	}
	for i := range pages {
		p := pages[i]
		if p.method != http.MethodGet || Prefix+p.path != u.Path && Prefix+p.path != u.Path+"{$}" {
			continue
		}
		c := New(Config{API: a.api, Logger: zap.NewNop(), Now: func() time.Time { return chartsNow }})
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		caller := request.Caller{Credential: keys.Credential{Key: a.key}}
		(&visit{w: w, r: r, console: c, page: &p, caller: caller, now: chartsNow, query: u.Query()}).serve()
		return w
	}
	a.t.Fatalf("no page %s", path)
	return nil
}

// chartsCall is a call an hour ago.
func chartsCall(change func(*activity.Record)) activity.Record {
	r := activity.Record{
		ID: "gen-1", CreatedAt: chartsNow.Add(-time.Hour), Tenant: "acme", Key: "dev", Model: "acme/large", Provider: "acme", Status: 200, UsageSource: activity.UsageProvider, Priced: true,
		CostNano: 1_500_000, PromptTokens: 1000, CompletionTokens: 200, Attempts: 1, Stream: true, Latency: 2 * time.Second, FirstToken: 300 * time.Millisecond,
		Overhead: 800 * time.Microsecond,
	}
	change(&r)
	return r
}

// livelyCalls are those of a gateway in use for some weeks.
func livelyCalls(n int) []activity.Record {
	random := rand.New(rand.NewPCG(7, 11))
	models := []struct {
		name, provider string
		weight         int
		nano           int64 // a token written
		first          time.Duration
		perToken       time.Duration
	}{
		{"openai/gpt-5-mini", "openai", 30, 2000, 350 * time.Millisecond, 9 * time.Millisecond},
		{"anthropic/claude-opus-4-5", "anthropic", 18, 25000, 900 * time.Millisecond, 18 * time.Millisecond},
		{"openai/gpt-5", "openai", 16, 10000, 700 * time.Millisecond, 14 * time.Millisecond},
		{"anthropic/claude-haiku-4-5", "anthropic", 14, 5000, 300 * time.Millisecond, 7 * time.Millisecond},
		{"vllm/qwen3-coder-480b-a35b-instruct", "vllm", 12, 0, 150 * time.Millisecond, 6 * time.Millisecond},
		{"mistral/mistral-large", "mistral", 8, 6000, 400 * time.Millisecond, 12 * time.Millisecond},
		{"openrouter/deepseek/deepseek-r2", "openrouter", 7, 2200, 1500 * time.Millisecond, 22 * time.Millisecond},
		{"openrouter/google/gemini-3-pro", "openrouter", 6, 12000, 800 * time.Millisecond, 8 * time.Millisecond},
		{"openrouter/moonshot/kimi-k2", "openrouter", 4, 2500, 600 * time.Millisecond, 13 * time.Millisecond},
		{"ollama/llama4-scout", "ollama", 3, 0, 200 * time.Millisecond, 25 * time.Millisecond},
		{"openrouter/x-ai/grok-5", "openrouter", 2, 15000, 500 * time.Millisecond, 10 * time.Millisecond},
	}
	total := 0
	for _, m := range models {
		total += m.weight
	}
	people := []string{"ci", "webshop", "support-bot", "anna", "research", "translations"}
	refusals := []struct {
		code   string
		status int
	}{{"rate_limit_exceeded", 429}, {"rate_limit_exceeded", 429}, {"budget_exceeded", 402}, {"upstream_error", 502}, {"upstream_timeout", 502}, {"model_not_found", 404},
		{"guardrail_blocked", 422}, {"context_length_exceeded", 400}, {"client_closed_request", 499}, {"upstream_rate_limited", 429}}
	records := make([]activity.Record, 0, n)
	for len(records) < n {
		age := time.Duration(random.Float64() * random.Float64() * float64(31*24*time.Hour))
		at := chartsNow.Add(-age)
		// Nights and weekends are quiet, and on one evening the gateway was off.
		quiet := 0.15
		if h := at.Hour(); h >= 7 && h < 20 {
			quiet = 1
		}
		if d := at.Weekday(); d == time.Saturday || d == time.Sunday {
			quiet *= 0.5
		}
		if random.Float64() > quiet || at.Day() == 22 && at.Hour() >= 17 && at.Hour() < 20 {
			continue
		}
		w := random.IntN(total)
		m := models[0]
		for _, m = range models {
			if w -= m.weight; w < 0 {
				break
			}
		}
		out := int64(20 + random.ExpFloat64()*400)
		slow := 1 + random.ExpFloat64()*0.4
		first := time.Duration(float64(m.first) * slow)
		r := activity.Record{
			ID: fmt.Sprint("gen-", len(records)), CreatedAt: at, Tenant: "acme", Key: people[min(random.IntN(6), random.IntN(6))], Model: m.name, Provider: m.provider, Status: 200,
			UsageSource: activity.UsageProvider, Priced: m.provider != "ollama", PromptTokens: int64(200 + random.ExpFloat64()*3000), CompletionTokens: out, Attempts: 1, Stream: true,
			FirstToken: first, Latency: first + time.Duration(float64(out)*float64(m.perToken)*slow), Overhead: time.Duration(300+random.IntN(900)) * time.Microsecond,
		}
		r.CachedTokens = r.PromptTokens / 3
		r.CostNano = m.nano * (out + r.PromptTokens/5)
		if !r.Priced {
			r.CostNano = 0
		}
		if random.Float64() < 0.04 || m.provider == "mistral" && age < 5*time.Hour && random.Float64() < 0.6 {
			refusal := refusals[random.IntN(len(refusals))]
			if m.provider == "mistral" {
				refusal.code, refusal.status = "upstream_error", 502
			}
			r.Code, r.Status, r.CostNano, r.CompletionTokens, r.FirstToken, r.Latency = refusal.code, refusal.status, 0, 0, 0, 30*time.Millisecond
			if refusal.status < 499 {
				r.Provider, r.Attempts, r.PromptTokens, r.CachedTokens, r.UsageSource = "", 0, 0, 0, activity.UsageNone
			}
		}
		records = append(records, r)
	}
	return records
}
