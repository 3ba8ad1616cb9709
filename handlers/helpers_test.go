package handlers

import (
	"cmp"
	"crypto/rand"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

var noon = time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC) // a Wednesday

// The keys of the tests have the scopes that their names say. "other" is of another tenant,
// "connect" expires in an hour. "operator" sees all tenants.
var keyScopes = map[string][]string{
	"full":   {"chat:write", "models:read", "activity:read", "providers:read", "workstations:connect", "workstations:manage"},
	"chat":   {"chat:write"},
	"models": {"models:read"},

	"limits":    {"limits:read"},
	"one-model": {"providers:read", "limits:read"},
	"operator":  {"limits:read", "workstations:manage", "keys:manage", "recordings:read"},
	"connect":   {"workstations:connect"},
	"colleague": {"workstations:connect"},
	"observer":  {"workstations:connect", "workstations:observe"},
	"agent":     {"workstations:automate"},
	"manage":    {"workstations:manage"},
	"keys":      {"keys:manage"},
	"reader":    {"recordings:read"},
	"eraser":    {"recordings:manage"},
	"other":     {"chat:write", "models:read", "activity:read", "providers:read", "workstations:connect", "workstations:manage", "recordings:read", "recordings:manage"},
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

// setup is what a test changes of its gateway before it is made.
type setup struct {
	provider     roundTrip                    // of acme; nil answers {}
	limits       map[string]*policy.KeyLimits // by key
	dialect      string                       // of acme; "" is openai
	workstations bool
	onConflict   desktop.Conflict
	storage      desktop.Storage    // nil: one in memory
	logger       *zap.Logger        // nil: none
	state        *gateway.State     // nil: a new one
	made         *runtimekeys.Block // nil: no keys are made at run time
	recordings   *recording.Settings
	write        time.Duration // how long a client may take nothing of its answer; 0: as by default
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
		RuntimeKeys: s.made, Recordings: s.recordings, State: s.state, Limits: &policy.Limits{Keys: s.limits}, Guardrails: new(policy.Guardrails),
		BodyMemory: 1 << 30, AnswerMemory: 1 << 30, Timeouts: modelcall.DefaultTimeouts, Logger: s.logger, Now: now,
		Release: func() {}, Reacquire: func() bool { return false },
	}
	c.Timeouts.Write = cmp.Or(s.write, c.Timeouts.Write)
	acme, err := provider.New(provider.Config{
		Name: "acme", Dialect: s.dialect, Endpoints: provider.One("http://acme.invalid/v1", ""), Transport: s.provider, UserAgent: "gatehouse",
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
		case "operator":
			spec.Tenant, spec.AllTenants = "ops", true
		case "one-model":
			spec.Models = []string{"acme/n"}
		case "connect":
			spec.Expires = noon.Add(time.Hour)
		}
		specs = append(specs, spec)
	}
	c.Keyring, err = keys.NewKeyring(specs)
	must(t, err)
	if s.workstations {
		c.Workstations = newWorkstations(t, s)
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
func newWorkstations(t testing.TB, s setup) *desktop.Service {
	t.Helper()
	if s.storage == nil {
		s.storage = new(desktoptest.Storage)
	}
	service, err := desktop.New(desktop.Config{
		Policy: desktop.Policy{
			Domain: "vnc.example.com", OnConflict: s.onConflict, Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
			Credentials: map[string]desktop.Credential{"lab": {Password: "hunter2-lab"}},
		},
		Workstations: []desktop.Spec{
			{ID: desktop.ID{Tenant: keys.DefaultTenant, Name: "desk1"}, Target: desktop.Target{Address: "127.0.0.1:5901"}},
		},
		State: s.state.Workstations, Storage: s.storage, Random: rand.Reader,
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
func limitedTo(key string, s limits.Subject) map[string]*policy.KeyLimits {
	s.Name = policy.KeySubject(key)
	return map[string]*policy.KeyLimits{key: {Subjects: []limits.Subject{s}}}
}
