package gateway_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/features/console"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

const secret = "gk-unit-0123456789"

// roundTrip is a provider's transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answering(status int, body string) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// silent never answers; it ends with the request's context.
func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func newProvider(t testing.TB, name string, native bool, rt http.RoundTripper) *provider.Provider {
	t.Helper()
	c := provider.Config{Name: name, Endpoints: provider.One("http://"+name+".invalid/v1", ""), Transport: rt, UserAgent: "gatehouse"}
	if !native {
		c.Translate = new(provider.Translate)
	}
	p, err := provider.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rig is a gateway and what a test looks at from outside.
type rig struct {
	*gateway.Gateway
	state    *gateway.State
	released atomic.Int32
	gone     atomic.Bool // the State cannot be held again

	serial    int
	onRelease func()
}

// newRig returns a gateway with one key and the providers of config, or one
// named "acme" that answers {}. A nil State is a new one.
func newRig(t testing.TB, config gateway.Config, sources ...catalog.Source) *rig {
	t.Helper()
	r := &rig{state: config.State}
	if r.state == nil {
		r.state = gateway.NewState(t.TempDir(), time.Now)
	}
	config.State = r.state
	if config.Features == nil {
		config.Features = func(c gateway.Core) []gateway.Feature { return []gateway.Feature{console.Feature(c)} }
	}
	if config.Keyring == nil {
		config.Keyring = newRing(t, keys.Spec{Name: "dev", Secrets: []string{secret}, Scopes: []string{"chat:write"}})
	}
	if config.Providers == nil {
		config.Providers = []*provider.Provider{newProvider(t, "acme", true, answering(200, `{}`))}
	}
	if sources == nil {
		sources = []catalog.Source{{Provider: "acme", Patterns: []string{"*"}}}
	}
	if config.Catalog == nil {
		config.Catalog = newCatalog(t, nil, sources...)
	}
	if config.BodyMemory == 0 {
		config.BodyMemory, config.AnswerMemory = 1<<30, 1<<30
	}
	if config.Timeouts == (modelcall.Timeouts{}) {
		config.Timeouts = modelcall.DefaultTimeouts
	}
	config.Limits, config.Guardrails = new(policy.Limits), new(policy.Guardrails)
	if config.Logger == nil {
		config.Logger = nopLogger
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	config.Release = func() {
		r.released.Add(1)
		if r.onRelease != nil {
			r.onRelease()
		}
	}
	config.Reacquire = func() bool { return !r.gone.Load() }
	g, err := gateway.New(config)
	if err != nil {
		t.Fatal(err)
	}
	r.Gateway = g
	return r
}

// start starts the gateway; its State is closed when the test ends.
func (r *rig) start(t testing.TB, ctx context.Context) *rig {
	t.Helper()
	if err := r.Start(ctx, activity.Retention{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.state.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func newRing(t testing.TB, specs ...keys.Spec) *keys.Keyring {
	t.Helper()
	ring, err := keys.NewKeyring(specs)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func newCatalog(t testing.TB, models []catalog.Model, sources ...catalog.Source) *catalog.Catalog {
	t.Helper()
	c, err := catalog.NewCatalog(models, sources)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// begin opens a request of the rig's one key.
func (r *rig) begin(t testing.TB) *request.Request {
	t.Helper()
	r.serial++
	q, err := r.beginNumbered(r.serial)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func (r *rig) beginNumbered(serial int) (*request.Request, error) {
	caller, err := r.Authenticate(secret, "")
	if err != nil {
		return nil, err
	}
	return request.Begin(&r.Requests().Deps.Deps, httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/v1/chat/completions", nil), caller,
		request.Route{Name: "POST /v1/chat/completions", Family: "openai", Recorded: true},
		request.IDs{RequestID: "req_" + strconv.Itoa(serial), GenerationID: "gen-" + strconv.Itoa(serial)})
}

// find looks a model up for the rig's one key.
func (r *rig) find(t testing.TB, ctx context.Context, name string) (catalog.Model, *provider.Provider, error) {
	t.Helper()
	caller, err := r.Authenticate(secret, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Models().Await(ctx, name); err != nil {
		return catalog.Model{}, nil, err
	}
	found, err := r.Models().Find(caller.Key, name)
	if err != nil {
		return catalog.Model{}, nil, err
	}
	return *found.Groups[0][0].Model, found.Groups[0][0].Provider, nil
}

// records are the rows of the default tenant.
func (r *rig) records(t testing.TB) []activity.Record {
	t.Helper()
	page, err := r.Requests().Activity.Query(t.Context(), activity.Filter{Tenant: keys.DefaultTenant, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return page.Records
}

func wantRefusal(t testing.TB, err error, code apierror.Code, text string) {
	t.Helper()
	if e := apierror.From(err); err == nil || e.Code != code || !strings.Contains(e.Message, text) {
		t.Errorf("got %v, want %s with %q", err, code, text)
	}
}
