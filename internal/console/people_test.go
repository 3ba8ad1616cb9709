package console

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

// fakePeople knows what was kept of sign-ins.
type fakePeople struct {
	mu      sync.Mutex       // guards asked and granted: a desktop asks beside its test
	granted map[string]error // by what was kept; nil: it is good
	renewed map[string]string
	ends    error // of the next sign-in
	page    string
	asked   int
}

var ann = request.Caller{Credential: keys.Credential{Hash: "22", Key: &keys.Key{Name: "idp-1", Tenant: "lab", Scopes: keys.ActivityRead}}, SignedIn: "22", User: "ann@example.com"}

func (p *fakePeople) Names() []string { return []string{"okta", "entra"} }

func (p *fakePeople) BeginSignIn(w http.ResponseWriter, r *http.Request, _, name, page string) error {
	if name != "okta" {
		return apierror.New(apierror.IdentityUnavailable, "%s does not answer", name)
	}
	p.page = page
	http.Redirect(w, r, "https://okta.example.com/", http.StatusSeeOther)
	return nil
}

func (p *fakePeople) SignInEnds(r *http.Request, _ string) bool { return r.URL.Path == "/callback" }

func (p *fakePeople) FinishSignIn(http.ResponseWriter, *http.Request, string) (request.Caller, string, string, error) {
	return ann, "first", p.page, p.ends
}

func (p *fakePeople) SignedIn(_ context.Context, kept string) (request.Caller, string, error) {
	p.mu.Lock()
	p.asked++
	err, known := p.granted[kept]
	p.mu.Unlock()
	if !known {
		err = apierror.New(apierror.InvalidAPIKey, "over")
	}
	if err != nil {
		return request.Caller{}, p.renewed[kept], err
	}
	return ann, p.renewed[kept], nil
}

func withPeople() (door, *fakePeople) {
	p := &fakePeople{granted: map[string]error{"first": nil}, renewed: map[string]string{}}
	return open(func(c *Config) {
		c.People = p
		c.API = func(request.Caller) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data":[]}`)) })
		}
	}), p
}

// signInAt signs ann in and returns the cookie.
func (d door) signInAt(t *testing.T) string {
	t.Helper()
	w := d.ask(http.MethodGet, "/callback", "")
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return cookieOf(t, w)
}

func TestThereIsAButtonForEachIdentityProvider(t *testing.T) {
	d, p := withPeople()
	form := d.ask(http.MethodGet, "/console/sign-in?return=%2Fconsole%2Fusage%3Fby%3Dkey", "").Body.String()
	for _, part := range []string{`href="/console/sign-in/okta?return=%2fconsole%2fusage%3fby%3dkey"`, "Sign in with entra", `name="key"`} {
		if !strings.Contains(form, part) {
			t.Errorf("without %s: %s", part, form)
		}
	}
	for back, want := range map[string]string{
		"/console/usage?by=key": "/console/usage?by=key", "//evil.example": "/console/", "https://evil.example": "/console/",
		"/console/?" + strings.Repeat("x", 2000): "/console/",
	} {
		w := d.ask(http.MethodGet, "/console/sign-in/okta?return="+url.QueryEscape(back), "")
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "https://okta.example.com/" || p.page != want {
			t.Errorf("%.40s: %d %v, to %q", back, w.Code, w.Header(), p.page)
		}
	}
	w := d.ask(http.MethodGet, "/console/sign-in/entra?return=%2Fconsole%2Fusage", "")
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "entra does not answer") || !strings.Contains(w.Body.String(), "/console/sign-in?return=%2Fconsole%2Fusage") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	p.page = ""
	d.ask(http.MethodGet, "/console/sign-in/okta", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "image")
	if p.page != "" {
		t.Error("the page of another site has begun a sign-in")
	}
}

func TestWhoComesBackFromAnIdentityProviderIsSignedIn(t *testing.T) {
	d, p := withPeople()
	planted := d.signIn(t, opsSecret)
	p.page = "/console/you"
	w := d.ask(http.MethodGet, "/callback", planted, "Sec-Fetch-Site", "cross-site")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/console/you" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	cookie := cookieOf(t, w)
	if _, ok, _ := d.gateway.store.Find(t.Context(), planted, d.config.Life); ok || cookie == planted {
		t.Error("the session before it lives")
	}
	w = d.ask(http.MethodGet, "/console/you", cookie)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "ann@example.com") || w.Header().Get("X-Frame-Options") != "DENY" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := d.ask(http.MethodPost, "/console/sign-out", cookie, sameOrigin...); w.Code != http.StatusSeeOther || d.gateway.store.Len() != 0 {
		t.Errorf("sign-out: %d, %d sessions", w.Code, d.gateway.store.Len())
	}
	p.ends = apierror.New(apierror.NoRole, "no role is for you")
	w = d.ask(http.MethodGet, "/callback", "")
	if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "no role is for you") || w.Header().Get("Set-Cookie") != "" || len(d.gateway.users) != 1 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestASignInIsOverWhenTheProviderSaysSo(t *testing.T) {
	d, p := withPeople()
	cookie := d.signInAt(t)
	p.renewed["first"], p.granted["second"] = "second", nil
	want := func(what string, status int, kept string) {
		t.Helper()
		w := d.ask(http.MethodGet, "/console/you", cookie)
		s, _, _ := d.gateway.store.Peek(t.Context(), cookie, d.config.Life)
		if w.Code != status || s.Grant != kept {
			t.Errorf("%s: %d, %q is kept", what, w.Code, s.Grant)
		}
	}
	want("asked again", http.StatusOK, "second")
	want("after that", http.StatusOK, "second")
	p.granted["second"], p.renewed["second"] = apierror.New(apierror.IdentityUnavailable, "away"), "third"
	want("away", http.StatusServiceUnavailable, "third")
	p.granted["third"] = nil
	want("back", http.StatusOK, "third")
	delete(p.granted, "third")
	w := d.ask(http.MethodGet, "/console/you", cookie)
	if at := w.Header().Get("Location"); at != "/console/sign-in?done=sign-in-over&return=%2Fconsole%2Fyou" || d.gateway.store.Len() != 0 {
		t.Errorf("%d %s, %d sessions", w.Code, at, d.gateway.store.Len())
	}
	d, _ = withPeople()
	cookie = d.signInAt(t)
	d.config.People, d.guard.config.People = nil, nil // a configuration without
	wantSignIn(t, "nobody can sign in there any longer", d.ask(http.MethodGet, "/console/you", cookie))
}

// Two gateways may ask with the same token at once. Who comes second has what the first was told.
func TestAnotherGatewayHasAskedFirst(t *testing.T) {
	d, p := withPeople()
	cookie := d.signInAt(t)
	d.gateway.store = overtaken{d.gateway.store, cookie}
	p.granted = map[string]error{"second": nil}
	if w := d.ask(http.MethodGet, "/console/you", cookie); w.Code != http.StatusOK {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// overtaken is a store in which a session changes after it was found.
type overtaken struct {
	websession.Store
	id string
}

func (s overtaken) Find(ctx context.Context, id string, life websession.Life) (websession.Session, bool, error) {
	x, ok, err := s.Store.Find(ctx, id, life)
	now := x
	now.Grant = "second"
	_ = s.Update(ctx, s.id, now)
	return x, ok, err
}

// The token before it is used up.
func TestTheNextTokenIsKeptOfABrowserThatHasLeft(t *testing.T) {
	d, p := withPeople()
	cookie := d.signInAt(t)
	kept := d.gateway.store
	d.gateway.store = punctual{kept}
	p.renewed["first"] = "second"
	ctx, leave := context.WithCancel(t.Context())
	leave()
	d.do(newTestRequest(http.MethodGet, "/console/you", nil, "Cookie", secureCookie+"="+cookie).WithContext(ctx))
	if s, _, _ := kept.Peek(t.Context(), cookie, d.config.Life); s.Grant != "second" {
		t.Errorf("%q is kept", s.Grant)
	}
}

// punctual is a store that writes nothing for who has left.
type punctual struct{ websession.Store }

func (s punctual) Update(ctx context.Context, id string, x websession.Session) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.Store.Update(ctx, id, x)
}

// A desktop asks for no page, and its sign-in goes on, or ends, nevertheless.
func TestTheProviderIsAskedForAnOpenDesktop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, p := withPeople()
		cookie := d.signInAt(t)
		var ended atomic.Bool
		defer d.gateway.store.OnEnd(cookie, d.config.Life, time.Now, func() { ended.Store(true) })()
		asked := func() int {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.asked
		}
		stop := keepSignedIn(t.Context(), &d.config, cookie)
		time.Sleep(3*time.Minute + time.Second)
		synctest.Wait()
		if n := asked(); n != 3 || ended.Load() {
			t.Errorf("asked %d times, ended %v", n, ended.Load())
		}
		p.mu.Lock()
		delete(p.granted, "first")
		p.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if !ended.Load() || d.gateway.store.Len() != 0 {
			t.Errorf("the desktop goes on; %d sessions", d.gateway.store.Len())
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := asked(); n > 6 {
			t.Errorf("asked %d times", n)
		}
		stop()
		synctest.Wait()
	})
}
