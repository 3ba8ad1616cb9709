package console

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

const (
	opsSecret = "gk-console-ops-0123456789"
	devSecret = "gk-console-dev-0123456789"
)

// door is a console whose gateway is a test's.
type door struct {
	*Console
	gateway *fakeGateway
}

// fakeGateway has keys by their secrets.
type fakeGateway struct {
	store  websession.Store
	starts error // why it has not started

	mu          sync.Mutex
	keys        map[string]*keys.Key // by their secrets
	err         error                // of every look for a key
	signedIn    int
	refused     []netip.Addr
	users       []string // that were refused
	unavailable []bool   // of a sign-in
	wait        time.Duration
	tooMany     bool
}

func (g *fakeGateway) Ready(context.Context) error { return g.starts }

func (g *fakeGateway) caller(fits func(secret string, key *keys.Key) bool) (request.Caller, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for secret, key := range g.keys {
		if g.err == nil && fits(secret, key) {
			return request.Caller{Credential: keys.Credential{Key: key}, Secret: secret}, nil
		}
	}
	if g.err != nil {
		return request.Caller{}, g.err
	}
	return request.Caller{}, apierror.New(apierror.InvalidAPIKey, "no such key")
}

func (g *fakeGateway) Authenticate(secret string) (request.Caller, error) {
	return g.caller(func(s string, _ *keys.Key) bool { return s == secret })
}

func (g *fakeGateway) CallerOf(tenant, name, hash string) (request.Caller, error) {
	return g.caller(func(s string, k *keys.Key) bool {
		return k.Tenant == tenant && k.Name == name && (&request.Caller{Secret: s}).SecretHash() == hash
	})
}

func (g *fakeGateway) CallerNamed(name string) (request.Caller, error) {
	return g.caller(func(_ string, k *keys.Key) bool { return k.Name == name })
}

func (g *fakeGateway) Sessions() websession.Store { return g.store }
func (g *fakeGateway) SignedIn()                  { g.signedIn++ }

func (g *fakeGateway) SignInRefused(from netip.Addr) (time.Duration, bool) {
	g.refused = append(g.refused, from)
	return g.wait, !g.tooMany
}

func (g *fakeGateway) UserRefused(_ netip.Addr, user string) { g.users = append(g.users, user) }
func (g *fakeGateway) Unavailable(signIn bool, _ error) {
	g.unavailable = append(g.unavailable, signIn)
}
func (g *fakeGateway) change(f func(map[string]*keys.Key)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(g.keys)
}

// open returns a console with the keys ops and dev.
func open(change ...func(*Config)) door {
	g := &fakeGateway{store: websession.NewMemory(time.Now), keys: map[string]*keys.Key{
		opsSecret: {Name: "ops", Tenant: "default", Scopes: keys.ActivityRead},
		devSecret: {Name: "dev", Tenant: "acme"},
	}}
	c := Config{
		Gateway: g, Life: websession.Life{Idle: time.Hour, Max: 12 * time.Hour}, Logger: zap.NewNop(), Now: time.Now,
		API: func(request.Caller) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data":{}}`)) })
		},
	}
	for _, f := range change {
		f(&c)
	}
	return door{New(c), g}
}

// newTestRequest returns one over TLS. Its header fields are pairs.
func newTestRequest(method, path string, form url.Values, header ...string) *http.Request {
	r := httptest.NewRequest(method, "https://console.example.com"+path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

func (d door) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

// ask sends a request, with a cookie unless it is "".
func (d door) ask(method, path, cookie string, header ...string) *httptest.ResponseRecorder {
	if cookie != "" {
		header = append(header, "Cookie", secureCookie+"="+cookie)
	}
	return d.do(newTestRequest(method, path, nil, header...))
}

// sameOrigin is what a browser adds to what a page of the console sends.
var sameOrigin = []string{"Origin", "https://console.example.com", "Sec-Fetch-Site", "same-origin"}

// signIn signs in with a secret and returns the cookie.
func (d door) signIn(t *testing.T, secret string) string {
	t.Helper()
	w := d.do(newTestRequest(http.MethodPost, "/console/sign-in", url.Values{"key": {secret}}, sameOrigin...))
	if w.Code != http.StatusSeeOther {
		t.Fatalf("sign-in: %d %s", w.Code, w.Body)
	}
	return cookieOf(t, w)
}

func cookieOf(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	cookies := w.Result().Cookies()
	if len(cookies) != 1 || cookies[0].Value == "" {
		t.Fatalf("cookies %v", w.Header()["Set-Cookie"])
	}
	return cookies[0].Value
}

// wantSignIn checks that an answer leads to the sign-in.
func wantSignIn(t *testing.T, what string, w *httptest.ResponseRecorder) {
	t.Helper()
	if at := w.Header().Get("Location"); w.Code != http.StatusSeeOther || !strings.HasPrefix(at, "/console/sign-in") {
		t.Errorf("%s: %d %q %s", what, w.Code, at, w.Body)
	}
}

// away is a store that does not answer.
type away struct{ websession.Store }

var errAway = errors.New("Valkey does not answer")

func (away) Create(context.Context, websession.Session, websession.Life) (string, error) {
	return "", errAway
}

func (away) Find(context.Context, string, websession.Life) (websession.Session, bool, error) {
	return websession.Session{}, false, errAway
}

func (away) Peek(context.Context, string, websession.Life) (websession.Session, bool, error) {
	return websession.Session{}, false, errAway
}

func (away) Delete(context.Context, string) error { return errAway }
