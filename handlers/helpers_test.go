package handlers

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

var noon = time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC) // a Wednesday

// The keys of the tests have the scopes that their names say. "other" is of another tenant,
// "connect" expires in an hour.
var keyScopes = map[string][]string{
	"full":    {"chat:write", "models:read", "activity:read", "workstations:connect", "workstations:manage"},
	"chat":    {"chat:write"},
	"models":  {"models:read"},
	"connect": {"workstations:connect"},
	"manage":  {"workstations:manage"},
	"other":   {"chat:write", "models:read", "activity:read", "workstations:connect", "workstations:manage"},
}

func secretOf(key string) string { return "gk-unit-0123456789-" + key }

// roundTrip is a provider's transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answering(status int, mediaType, body string) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {mediaType}}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body)),
		}, nil
	}
}

// silent never answers; it ends with the request's context.
func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// memory is a storage of the records of workstations.
type memory map[string][]byte

func (m memory) Store(_ context.Context, key string, value []byte) error {
	m[key] = bytes.Clone(value)
	return nil
}

func (m memory) Load(_ context.Context, key string) ([]byte, error) {
	if value, ok := m[key]; ok {
		return value, nil
	}
	return nil, fs.ErrNotExist
}

func (m memory) Delete(_ context.Context, key string) error {
	delete(m, key)
	return nil
}

func (m memory) List(context.Context, string, bool) ([]string, error) {
	return slices.Sorted(maps.Keys(m)), nil
}

// setup is what a test changes of its gateway before it is made.
type setup struct {
	provider     roundTrip                       // of acme; nil answers {}
	limits       map[string]*modelcall.KeyLimits // by key
	workstations bool
	storage      workstation.Storage // nil: one in memory
	logger       *zap.Logger         // nil: none
	state        *gateway.State      // nil: a new one
}

// newGateway returns a gateway that has not started. Its models are acme/m and acme/n.
func newGateway(t testing.TB, s setup) *gateway.Gateway {
	t.Helper()
	if s.provider == nil {
		s.provider = answering(200, "application/json", `{}`)
	}
	if s.logger == nil {
		s.logger = zap.NewNop()
	}
	now := func() time.Time { return noon }
	if s.state == nil {
		s.state = gateway.NewState(t.TempDir(), now)
	}
	t.Cleanup(func() { must(t, s.state.Close()) })
	c := gateway.Config{
		State: s.state, Limits: &modelcall.Limits{Keys: s.limits}, Guardrails: new(modelcall.Guardrails),
		BodyMemory: 1 << 30, Timeouts: modelcall.DefaultTimeouts, Logger: s.logger, Now: now,
		Release: func() {}, Reacquire: func() bool { return false },
	}
	acme, err := provider.New(provider.Config{
		Name: "acme", BaseURL: "http://acme.invalid/v1", Transport: s.provider, UserAgent: "gatehouse",
	})
	must(t, err)
	c.Providers = []*provider.Provider{acme}
	rate, err := catalog.ParseRate("0.000001")
	must(t, err)
	price := &catalog.Price{Rates: catalog.Rates{Prompt: catalog.Quoted(rate), Completion: catalog.Quoted(rate)}}
	c.Catalog, err = catalog.NewCatalog([]catalog.Model{
		{ID: "acme/m", Provider: "acme", Name: "m", Price: price}, {ID: "acme/n", Provider: "acme", Name: "n", Price: price},
	}, []catalog.Source{{Provider: "acme", Patterns: []string{"m", "n"}}})
	must(t, err)
	var specs []keys.Spec
	for name, scopes := range keyScopes {
		spec := keys.Spec{Name: name, Secrets: []string{secretOf(name)}, Scopes: scopes}
		switch name {
		case "other":
			spec.Tenant = "other"
		case "connect":
			spec.Expires = noon.Add(time.Hour)
		}
		specs = append(specs, spec)
	}
	c.Keyring, err = keys.NewKeyring(specs)
	must(t, err)
	if s.workstations {
		c.Workstations = newWorkstations(t, s.state.Workstations, s.storage)
	}
	g, err := gateway.New(c)
	must(t, err)
	return g
}

// startGateway returns a gateway that serves.
func startGateway(t testing.TB, s setup) *gateway.Gateway {
	t.Helper()
	g := newGateway(t, s)
	must(t, g.Start(t.Context(), activity.Retention{}))
	return g
}

// newWorkstations declares desk1 and lets others be registered in 10.0.0.0/8.
func newWorkstations(t testing.TB, state *workstation.State, storage workstation.Storage) *workstation.Service {
	t.Helper()
	if storage == nil {
		storage = memory{}
	}
	service, err := workstation.New(workstation.Config{
		Policy: workstation.Policy{
			Domain: "vnc.example.com", Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
			Credentials: map[string]workstation.Credential{"lab": {Password: "hunter2-lab"}},
		},
		Workstations: []workstation.Spec{
			{ID: workstation.ID{Tenant: keys.DefaultTenant, Name: "desk1"}, Target: workstation.Target{Address: "127.0.0.1:5901"}},
		},
		State: state, Storage: storage, Random: rand.Reader,
	})
	must(t, err)
	return service
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// limitedTo is a key under one limit of its own.
func limitedTo(key string, s limits.Subject) map[string]*modelcall.KeyLimits {
	s.Name = modelcall.KeySubject(key)
	return map[string]*modelcall.KeyLimits{key: {Subjects: []limits.Subject{s}}}
}

// answer is a recorder that also knows what net/http would complain of.
type answer struct {
	*httptest.ResponseRecorder
	heads     int // times that a status was written
	deadlines []time.Time
}

func (a *answer) WriteHeader(status int) {
	a.heads++
	a.ResponseRecorder.WriteHeader(status)
}

func (a *answer) SetReadDeadline(t time.Time) error {
	a.deadlines = append(a.deadlines, t)
	return nil
}

func newAnswer() *answer { return &answer{ResponseRecorder: httptest.NewRecorder()} }

// readCloser is a request's body that shows how much of it was read.
type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// request is one with a key ("" for none) and a body ("" for none).
func request(method, target, key, body string) *http.Request {
	r := httptest.NewRequest(method, target, nil)
	if body != "" {
		r = httptest.NewRequest(method, target, strings.NewReader(body))
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+secretOf(key))
	}
	return r
}

// nextHandler answers 418 and shows what it got.
type nextHandler struct{ got *http.Request }

func (n *nextHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	n.got = r
	w.WriteHeader(http.StatusTeapot)
	return nil
}

// send runs a handler. It fails the test unless exactly one answer was written.
func send(t testing.TB, h caddyhttp.MiddlewareHandler, r *http.Request) *answer {
	t.Helper()
	a := newAnswer()
	if err := h.ServeHTTP(a, r, new(nextHandler)); err != nil {
		t.Errorf("%s %s: an error for Caddy: %v", r.Method, r.URL, err)
	}
	if a.heads != 1 {
		t.Errorf("%s %s: %d statuses were written", r.Method, r.URL, a.heads)
	}
	return a
}

// call sends a request to the whole API.
func call(t testing.TB, g *gateway.Gateway, method, target, key, body string) *answer {
	t.Helper()
	return send(t, &Gatehouse{gateway: g}, request(method, target, key, body))
}

// at is the value at a path in a JSON body: names and indices.
func (a *answer) at(t testing.TB, path ...any) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(a.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	for _, step := range path {
		switch at := v.(type) {
		case map[string]any:
			name, _ := step.(string)
			v = at[name]
		case []any:
			i, _ := step.(int)
			if i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// want checks the status, and in the shape of either family the refusal and a part of its message.
func (a *answer) want(t testing.TB, status int, code, message string) {
	t.Helper()
	if a.Code != status {
		t.Errorf("status %d, want %d: %s", a.Code, status, a.Body)
		return
	}
	if code == "" {
		return
	}
	got := a.at(t, "error", "code")
	if a.Header().Get(headerGenerationID) != "" {
		got = a.at(t, "error", "metadata", "error_type")
	}
	text, _ := a.at(t, "error", "message").(string)
	if got != code || !strings.Contains(text, message) {
		t.Errorf("%v %q, want %s with %q", got, text, code, message)
	}
	if media := a.Header().Get("Content-Type"); media != "application/json" {
		t.Errorf("Content-Type %q", media)
	}
}

// rows are the records of the default tenant, newest first.
func rows(t testing.TB, g *gateway.Gateway) []activity.Record {
	t.Helper()
	page, err := g.Requests().Activity.Query(t.Context(), activity.Filter{Tenant: keys.DefaultTenant, Limit: 100})
	must(t, err)
	return page.Records
}
