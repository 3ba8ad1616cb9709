package modelcall

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	sqliteactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/inflight"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	sqliteowners "github.com/gatehouse-proxy/gatehouse/internal/owners/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
)

const secret = "gk-unit-0123456789"

// rig is what requests need of a gateway: one key "dev" and one provider "acme", whose models all
// have the same price. Tests change its Deps before the first request.
type rig struct {
	Deps
	memory   memory.Semaphore
	answers  memory.Semaphore
	calls    inflight.Set
	store    *store.Store
	models   testModels
	events   []string // that were emitted
	released int      // times that the last request has ended
	serial   int
	key      keys.Key
}

// testModels has one provider and knows its models by their names.
type testModels struct {
	provider *provider.Provider
	model    catalog.Model
}

func (*testModels) Await(context.Context, ...string) error { return nil }

func (*testModels) NotListed(string) {}

func (m *testModels) Find(_ *keys.Key, name string) (Found, error) {
	of, upstream, ok := strings.Cut(name, "/")
	if !ok || of != m.provider.Name {
		return Found{}, apierror.New(apierror.ModelNotFound, "the model %q does not exist or this key may not use it", name).WithParam("model")
	}
	if upstream == "hidden" {
		return Found{}, apierror.New(apierror.ModelNotFound, "not callable").WithCause(catalog.ErrNotCallable)
	}
	model := m.model
	model.ID, model.Provider, model.Name, model.Known = name, of, upstream, true
	return Found{Groups: [][]Candidate{{{Model: &model, Provider: m.provider}}}}, nil
}

func newRig(t testing.TB, transport http.RoundTripper, change ...func(*rig)) *rig {
	t.Helper()
	r := &rig{key: keys.Key{Name: "dev", Tenant: keys.DefaultTenant, Scopes: keys.ChatWrite}}
	r.memory.SetLimit(1 << 30)
	r.answers.SetLimit(1 << 30)
	r.calls.Init(func() bool { return true }, func() { r.released++ })
	r.models = testModels{provider: newProvider(t, transport, nil), model: catalog.Model{Price: pricePerToken(t)}}
	opened, err := store.Open(t.TempDir(), store.Options{
		Schemas: []store.Schema{sqliteactivity.Schema, sqliteowners.Schema, sqlite.LedgerSchema, sqlite.RateSchema}, Logger: zap.NewNop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	r.store = opened
	t.Cleanup(func() { _ = opened.Close() })
	ledger, _, err := sqlite.OpenLedger(t.Context(), opened)
	if err != nil {
		t.Fatal(err)
	}
	r.Deps = Deps{
		Deps: admission.Deps{Deps: request.Deps{
			Limits: &policy.Limits{}, InFlight: &r.calls, Uploads: upload.Config{Memory: &r.memory, Timeout: DefaultTimeouts.Body, Now: time.Now},
			Write: DefaultTimeouts.Write, Activity: sqliteactivity.New(opened), Metrics: metrics.New(metrics.Gauges{}),
			Redactor: redact.New(nil, func(string) bool { return false }), Logger: zap.NewNop(), Sampled: zap.NewNop, Now: time.Now,
		}, Guardrails: &policy.Guardrails{Join: judge.Join}, Ledger: ledger, Concurrency: limits.NewConcurrencyLimiter()},
		Models: &r.models,
		Owners: owners.New(sqliteowners.New(opened), time.Now), Timeouts: DefaultTimeouts, Answers: &r.answers, WarnOfDemo: func(string) {},
	}
	r.Exhausted = policy.NewExhaustedBudgets(func(name string, _ map[string]any) { r.events = append(r.events, name) })
	for _, c := range change {
		c(r)
	}
	r.Uploads.Now = r.Now
	if r.Rates, err = sqlite.NewRates(t.Context(), opened, r.Now); err != nil {
		t.Fatal(err)
	}
	if err := r.Limits.Prepare(); err != nil {
		t.Fatal(err)
	}
	return r
}

// limited gives the rig's key limits.
func limited(k *policy.KeyLimits) func(*rig) {
	return func(r *rig) { r.Limits.Keys = map[string]*policy.KeyLimits{"dev": k} }
}

// budget is a key under one budget, such as "1usd/day".
func budget(t testing.TB, text string) *policy.KeyLimits {
	t.Helper()
	b, err := limits.ParseBudget(text)
	if err != nil {
		t.Fatal(err)
	}
	return &policy.KeyLimits{Subjects: []limits.Subject{{Name: "key:dev", Budgets: []limits.Budget{b}}}}
}

// pricePerToken is 1,000 nano-USD for a token of either kind.
func pricePerToken(t testing.TB) *catalog.Price {
	t.Helper()
	rate, err := catalog.ParseRate("0.000001")
	if err != nil {
		t.Fatal(err)
	}
	return &catalog.Price{Rates: catalog.Rates{Prompt: catalog.Quoted(rate), Completion: catalog.Quoted(rate)}}
}

func newProvider(t testing.TB, transport http.RoundTripper, change func(*provider.Config)) *provider.Provider {
	t.Helper()
	c := provider.Config{Name: "acme", Endpoints: provider.One("http://acme.invalid/v1", ""), Transport: transport, UserAgent: "gatehouse"}
	if change != nil {
		change(&c)
	}
	p, err := provider.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// roundTrip is a provider's transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answering(status int, body string) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// post is a request with a body of so many announced bytes (-1: chunked).
func post(body io.Reader, announced int64) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", body)
	r.ContentLength = announced
	return r
}

// openaiAPI answers as OpenAI does.
type openaiAPI struct{}

func (openaiAPI) ChatResult(dst, body []byte, call openai.Call, _ wire.Pricer) ([]byte, openai.Summary, error) {
	return openai.ChatResult(dst, body, call)
}

func (openaiAPI) ResponseDefaults() []openai.Default { return nil }

func (openaiAPI) ChatStream(call openai.Call, _ wire.Pricer) openai.DeltaStream {
	return openai.NewChatStream(call)
}

func (openaiAPI) ShowRate(h http.Header, r *apierror.Rate, _ time.Time) {
	h.Set("X-Test-Remaining", strconv.FormatInt(r.Remaining, 10))
}

// begin opens a chat call with this body.
func (r *rig) begin(t testing.TB, body string) *call {
	t.Helper()
	return r.beginWith(t, httptest.NewRecorder(), post(strings.NewReader(body), int64(len(body))))
}

func (r *rig) beginWith(t testing.TB, w http.ResponseWriter, req *http.Request) *call {
	t.Helper()
	return newCall(&r.Deps, r.request(t, w, req), wire.Chat, openaiAPI{})
}

// request opens a request that has no call yet.
func (r *rig) request(t testing.TB, w http.ResponseWriter, req *http.Request) *request.Request {
	t.Helper()
	r.serial++
	n := strconv.Itoa(r.serial)
	caller := request.Caller{Credential: keys.Credential{Key: &r.key, Hash: "0123"}, Secret: secret}
	q, err := request.Begin(&r.Deps.Deps.Deps, w, req, caller, request.Route{Name: "POST /v1/chat/completions", Family: "openai", Recorded: true},
		request.IDs{RequestID: "req_" + n, GenerationID: "gen-" + n})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// admit takes the steps of a call up to the one before encode.
func (c *call) admit(ctx context.Context) error {
	for _, step := range []func() error{
		c.enter, c.read, c.parse, func() error { return c.route(ctx) }, func() error { return c.check(ctx, enterNamed) },
		func() error { return c.judge(ctx) }, func() error { return c.checkState(ctx) }, func() error { return c.reserve(ctx) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// send encodes the admitted call and sends it.
func (c *call) send(ctx context.Context) (*http.Response, error) {
	a := attempts{queue: c.order(), alone: c.alone(), listed: c.to.listed, began: c.deps.Now(), bytes: int64(c.req.Upload.Len())}
	s := c.advance(ctx, &a)
	if s == nil {
		return nil, a.failed
	}
	c.begin(&a, s, c.buffer(&a))
	return c.attempt.upstream.send(ctx, s)
}

// attemptOf is the last attempt of a call, or one that was not sent.
func attemptOf(c *call) *attempt {
	if c.attempt == nil {
		c.attempt = &attempt{upstream: upstream{deps: c.deps, request: c.req}, body: &c.body}
	}
	return c.attempt
}

func meterOf(c *call) *meter { return &attemptOf(c).upstream.meter }

// sendAndRead sends an admitted call and reads its answer to the end.
func (c *call) sendAndRead(ctx context.Context) error {
	resp, err := c.send(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// rows are the records, newest first.
func (r *rig) rows(t testing.TB) []activity.Record {
	t.Helper()
	page, err := r.Activity.Query(t.Context(), activity.Filter{Tenant: keys.DefaultTenant, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return page.Records
}

// balance is the state of the one budget of the rig's key.
func (r *rig) balance(t testing.TB) limits.Balance {
	t.Helper()
	b, err := r.Ledger.Status(t.Context(), r.Now(), r.Limits.Keys["dev"].Subjects)
	if err != nil || len(b) != 1 {
		t.Fatal(b, err)
	}
	return b[0]
}

func wantRefusal(t testing.TB, err error, code apierror.Code, text string) {
	t.Helper()
	var e *apierror.Error
	if err != nil {
		e = apierror.From(err)
	}
	if e == nil || e.Code != code || !strings.Contains(e.Message, text) {
		t.Errorf("got %v, want %s with %q", err, code, text)
	}
}

const hello = `{"model":"acme/m","messages":[{"role":"user","content":"hello"}],"max_tokens":100}`
