// Package handlerstest has what tests of endpoints share: a gateway with keys and workstations, and
// requests to the whole API.
//
//	g := handlerstest.Start(t, handlerstest.Setup{Workstations: true})
//	handlerstest.Call(t, g, "GET", "/v1/workstations", "full", "").Want(t, 200, "", "")
package handlerstest

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
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

// Noon is when the tests happen.
var Noon = time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC) // a Wednesday

// KeyScopes are the keys of the tests. They have the scopes that their names say. "other" is of
// another tenant, "connect" expires in an hour. "operator" sees all tenants.
var KeyScopes = map[string][]string{
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
	"other": {
		"chat:write", "models:read", "activity:read", "providers:read",
		"workstations:connect", "workstations:manage", "recordings:read", "recordings:manage",
	},
}

// SecretOf returns the secret of a key.
func SecretOf(key string) string { return "gk-unit-0123456789-" + key }

// RoundTrip is a provider's transport.
type RoundTrip func(*http.Request) (*http.Response, error)

func (f RoundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Answering is a provider that always answers the same.
func Answering(status int, mediaType, body string) RoundTrip {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {mediaType}}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body)),
		}, nil
	}
}

// Silent never answers; it ends with the request's context.
func Silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Setup is what a test changes of its gateway before it is made.
type Setup struct {
	Provider     RoundTrip                    // of acme; nil answers {}
	Limits       map[string]*policy.KeyLimits // by key
	Dialect      string                       // of acme; "" is openai
	Models       []catalog.Model              // of it; nil: acme/m and acme/n, a millionth of a USD for each token
	Guardrails   *policy.Guardrails           // nil: none
	Workstations bool
	OnConflict   desktop.Conflict
	Storage      desktop.Storage // nil: one in memory
	Logger       *zap.Logger     // nil: none
	State        *gateway.State  // nil: a new one
	Features     func(gateway.Core) []gateway.Feature
	Write        time.Duration // how long a client may take nothing of its answer; 0: as by default
}

// New returns a gateway that has not started. Its models are acme/m and acme/n.
func New(t testing.TB, s Setup) *gateway.Gateway {
	t.Helper()
	if s.Provider == nil {
		s.Provider = Answering(200, "application/json", `{}`)
	}
	if s.Logger == nil {
		s.Logger = zap.NewNop()
	}
	now := func() time.Time { return Noon }
	if s.State == nil {
		s.State = gateway.NewState(t.TempDir(), now)
	}
	t.Cleanup(func() { Must(t, s.State.Close()) })
	c := gateway.Config{
		Features: s.Features,
		State:    s.State, Limits: &policy.Limits{Keys: s.Limits}, Guardrails: cmp.Or(s.Guardrails, new(policy.Guardrails)),
		BodyMemory: 1 << 30, AnswerMemory: 1 << 30, Timeouts: modelcall.DefaultTimeouts, Logger: s.Logger, Now: now,
		Release: func() {}, Reacquire: func() bool { return false },
	}
	c.Timeouts.Write = cmp.Or(s.Write, c.Timeouts.Write)
	acme, err := provider.New(provider.Config{
		Name: "acme", Dialect: s.Dialect, Endpoints: provider.One("http://acme.invalid/v1", ""), Transport: s.Provider, UserAgent: "gatehouse",
	})
	Must(t, err)
	c.Providers = []*provider.Provider{acme}
	rate, err := catalog.ParseRate("0.000001")
	Must(t, err)
	price := &catalog.Price{Rates: catalog.Rates{Prompt: catalog.Quoted(rate), Completion: catalog.Quoted(rate)}}
	if s.Models == nil {
		s.Models = []catalog.Model{{ID: "acme/m", Provider: "acme", Name: "m", Price: price}, {ID: "acme/n", Provider: "acme", Name: "n", Price: price}}
	}
	c.Catalog, err = catalog.NewCatalog(s.Models, []catalog.Source{{Provider: "acme", Patterns: []string{"m", "n"}}})
	Must(t, err)
	var specs []keys.Spec
	for name, scopes := range KeyScopes {
		spec := keys.Spec{Name: name, Secrets: []string{SecretOf(name)}, Scopes: scopes}
		switch name {
		case "other":
			spec.Tenant = "other"
		case "operator":
			spec.Tenant, spec.AllTenants = "ops", true
		case "one-model":
			spec.Models = []string{"acme/n"}
		case "connect":
			spec.Expires = Noon.Add(time.Hour)
		}
		specs = append(specs, spec)
	}
	c.Keyring, err = keys.NewKeyring(specs)
	Must(t, err)
	if s.Workstations {
		c.Workstations = newWorkstations(t, s)
	}
	g, err := gateway.New(c)
	Must(t, err)
	return g
}

// Start returns a gateway that serves.
func Start(t testing.TB, s Setup) *gateway.Gateway {
	t.Helper()
	g := New(t, s)
	Must(t, g.Start(t.Context(), activity.Retention{}))
	return g
}

// newWorkstations declares desk1 and lets others be registered in 10.0.0.0/8.
func newWorkstations(t testing.TB, s Setup) *desktop.Service {
	t.Helper()
	if s.Storage == nil {
		s.Storage = new(desktoptest.Storage)
	}
	service, err := desktop.New(desktop.Config{
		Policy: desktop.Policy{
			Domain: "vnc.example.com", OnConflict: s.OnConflict, Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
			Credentials: map[string]desktop.Credential{"lab": {Password: "hunter2-lab"}},
		},
		Workstations: []desktop.Spec{
			{ID: desktop.ID{Tenant: keys.DefaultTenant, Name: "desk1"}, Target: desktop.Target{Address: "127.0.0.1:5901"}},
		},
		State: s.State.Workstations, Storage: s.Storage, Random: rand.Reader,
	})
	Must(t, err)
	return service
}

// Must fails the test at an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Open opens the workstation of an issued address, as a viewer does, and returns the session's id.
func Open(t testing.TB, g *gateway.Gateway, issued *Answer) string {
	t.Helper()
	viewer := netip.MustParseAddrPort("192.0.2.1:40000")
	url, _ := issued.At(t, "vnc_url").(string)
	token, _, _ := strings.Cut(url, ".")
	pass, err := gateway.VNCOf(g).Workstations().Find(token, viewer.Addr())
	Must(t, err)
	session, err := pass.Join(viewer, "x509none")
	Must(t, err)
	t.Cleanup(session.Leave)
	return session.ID
}
