package toolcall

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	sqliteactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/inflight"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	sqliteowners "github.com/gatehouse-proxy/gatehouse/internal/owners/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
)

const (
	secret     = "gk-unit-0123456789"
	credential = "upstream-credential" // that the server knows the gateway by
)

// rig is what requests need of a gateway: one key "dev" and one server "files", to which it has all
// rights. Tests change it before the first request.
type rig struct {
	Deps
	config   toolserver.Config
	memory   memory.Semaphore
	answers  memory.Semaphore
	calls    inflight.Set
	store    *store.Store
	spec     keys.Spec
	ring     *keys.Keyring
	replaced chan struct{}
	serial   int
	own      func(context.Context) context.Context // adds what is the caller's

	mu   sync.Mutex // guards the following while requests run at once
	rows []*activity.Record
}

// rows keeps what an activity log would.
type rows struct {
	activity.Log
	rig *rig
}

func (r rows) Append(record *activity.Record) {
	r.rig.mu.Lock()
	defer r.rig.mu.Unlock()
	r.rig.rows = append(r.rig.rows, record)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func newRig(t testing.TB, transport http.RoundTripper, change ...func(*rig)) *rig {
	t.Helper()
	r := &rig{
		spec:     keys.Spec{Name: "dev", Secrets: []string{secret}, Scopes: []string{"mcp:call"}, Tools: []string{"files/*"}},
		replaced: make(chan struct{}),
		config: toolserver.Config{
			Name: "files", URL: "https://tools.example.com/mcp", Transport: transport, UserAgent: "gatehouse", Now: time.Now,
			Credential: provider.NewAPIKey(func() string { return credential }, provider.BearerField),
		},
	}
	r.memory.SetLimit(1 << 30)
	r.answers.SetLimit(1 << 30)
	r.calls.Init(func() bool { return true }, func() {})
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
	r.Deps.Deps = &admission.Deps{
		Deps: request.Deps{
			Limits: &policy.Limits{}, InFlight: &r.calls, Uploads: upload.Config{Memory: &r.memory, Timeout: time.Minute, Now: time.Now},
			Write: time.Minute, Activity: rows{rig: r}, Metrics: metrics.New(metrics.Gauges{}),
			Redactor: redact.New(nil, func(string) bool { return false }), Logger: zap.NewNop(), Sampled: zap.NewNop, Now: time.Now,
		},
		Guardrails: &policy.Guardrails{Join: judge.Join}, Ledger: ledger, Concurrency: limits.NewConcurrencyLimiter(),
		Exhausted: policy.NewExhaustedBudgets(func(string, map[string]any) {}),
	}
	r.Owners, r.Answers, r.Replaced = owners.New(sqliteowners.New(opened), time.Now), &r.answers, r.replaced
	r.Holds = func(*request.Caller, string) bool { return true }
	r.WarnOfDemo = func(string) {}
	for _, c := range change {
		c(r)
	}
	if r.Rates, err = sqlite.NewRates(t.Context(), opened, r.Now); err != nil {
		t.Fatal(err)
	}
	if err := r.Limits.Prepare(); err != nil {
		t.Fatal(err)
	}
	server, err := toolserver.New(r.config)
	if err != nil {
		t.Fatal(err)
	}
	if r.Servers, err = toolserver.NewServers([]*toolserver.Server{server}); err != nil {
		t.Fatal(err)
	}
	if r.ring, err = keys.NewKeyring([]keys.Spec{r.spec}); err != nil {
		t.Fatal(err)
	}
	return r
}

// answeredBy returns the same server with another transport, which counts its requests.
func (r *rig) answeredBy(t testing.TB, transport http.RoundTripper, asked *int) *toolserver.Servers {
	t.Helper()
	r.config.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
		*asked++
		return transport.RoundTrip(req)
	})
	server, err := toolserver.New(r.config)
	if err != nil {
		t.Fatal(err)
	}
	servers, err := toolserver.NewServers([]*toolserver.Server{server})
	if err != nil {
		t.Fatal(err)
	}
	return servers
}

// ServeHTTP does what the handler of the route does.
func (r *rig) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	found, err := r.ring.Authenticate(secret, time.Now())
	if err != nil {
		panic(err)
	}
	r.serial++
	id := strconv.Itoa(r.serial)
	q, err := request.Begin(&r.Deps.Deps.Deps, w, req, request.Caller{Credential: found, Secret: secret},
		request.Route{Name: req.Method + " /mcp/{id}", Family: "mcp", Recorded: true}, request.IDs{RequestID: "req_" + id, GenerationID: "gen-" + id})
	if err != nil {
		panic(err)
	}
	defer q.Finish()
	if err := Serve(&r.Deps, q, strings.TrimPrefix(req.URL.Path, "/mcp/"), r.own); err != nil {
		e := apierror.From(err)
		q.Outcome.Fail(e)
		q.Finish()
		if e.Code == apierror.ClientGone {
			return
		}
		w.Header().Set("X-Refused", string(e.Code))
		w.Header().Set("Content-Type", asJSON)
		w.WriteHeader(e.HTTPStatus())
		_, _ = w.Write(api.MCP{}.AppendError(nil, e, id))
	}
}

// message is a request of JSON-RPC. Params is JSON, "" for those of the stateless era without more.
func message(method, params string) string {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	if params != "" {
		params = strings.TrimSuffix(params, "}") + ","
	} else {
		params = "{"
	}
	return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":` + params + meta + `}}`
}

// call is a message that calls a tool.
func toolCall(tool string) string {
	return message("tools/call", `{"name":"`+tool+`","arguments":{"text":"hello"}}`)
}

// post is a request with a message of the stateless era.
func post(body string) *http.Request {
	req := httptest.NewRequest(http.MethodPost, "/mcp/files", strings.NewReader(body))
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Authorization": {"Bearer " + secret}, mcp.HeaderVersion: {mcp.Latest},
	}
	var m struct {
		Method string
		Params struct{ Name, URI string }
	}
	if json.Unmarshal([]byte(body), &m) == nil {
		req.Header.Set(mcp.HeaderMethod, m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" {
			req.Header.Set(mcp.HeaderName, name)
		}
	}
	return req
}

// old is a request of the era of sessions; session is "" for none, and body for GET and DELETE.
func old(method, session, body string) *http.Request {
	req := httptest.NewRequest(method, "/mcp/files", strings.NewReader(body))
	req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + secret}, mcp.HeaderVersion: {mcp.LatestSessions}}
	if session != "" {
		req.Header.Set(mcp.HeaderSession, session)
	}
	return req
}

func (r *rig) serve(req *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w
}

// row is the only row of the last request.
func (r *rig) row(t *testing.T) *activity.Record {
	t.Helper()
	if len(r.rows) != r.serial {
		t.Fatalf("%d rows of %d requests", len(r.rows), r.serial)
	}
	return r.rows[len(r.rows)-1]
}

// released fails the test if anything is held after all requests have ended.
func (r *rig) released(t *testing.T) {
	t.Helper()
	server := r.Servers.Named("files")
	if n := r.calls.Len() + server.Health().InFlight + len(r.streams.open); n != 0 {
		t.Errorf("%d requests are under way", n)
	}
	if n := r.memory.Used() + r.answers.Used(); n != 0 {
		t.Errorf("%d bytes are held", n)
	}
}

func answering(status int, contentType, body string) roundTrip {
	return func(req *http.Request) (*http.Response, error) {
		if req.Body != nil {
			_, _ = io.Copy(io.Discard, req.Body)
		}
		return reply(status, contentType, strings.NewReader(body)), nil
	}
}

func reply(status int, contentType string, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(body), ContentLength: -1}
}

const (
	asJSON   = "application/json"
	asEvents = "text/event-stream"
	result   = `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[{"type":"text","text":"hello"}],"x":1.50}}`
)

// errorIn returns code and data of the error of a message of JSON-RPC.
func errorIn(t *testing.T, body []byte) (code int, data map[string]any) {
	t.Helper()
	var m struct {
		ID    any
		Error struct {
			Code    int
			Message string
			Data    map[string]any
		}
	}
	if err := json.Unmarshal(bytes.TrimSpace(body), &m); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return m.Error.Code, m.Error.Data
}
