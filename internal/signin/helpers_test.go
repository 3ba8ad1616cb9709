package signin_test

import (
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/signin"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/identitytest"
)

// site is a gateway where people sign in at an issuer.
type site struct {
	t      testing.TB
	issuer *identitytest.Issuer
	url    string

	mu      sync.Mutex
	signIns *signin.SignIns
	now     time.Time
	result  signin.Result
	err     error
}

var developers = []identity.Rule{{Role: "developer", Conditions: []identity.Condition{{Claim: "groups", Values: []string{"developers"}}}}}

func newSite(t testing.TB, change func(*identity.Issuer)) *site {
	t.Helper()
	s := &site{t: t, issuer: identitytest.Start(t), now: time.Now()}
	s.issuer.SignIn("ann", map[string]any{"groups": []string{"developers"}, "email": "ann@example.com", "email_verified": true})
	mux := http.NewServeMux()
	mux.HandleFunc("/begin", func(w http.ResponseWriter, r *http.Request) {
		if err := s.signIns.Begin(w, r, "idp", signin.Next{Purpose: "test", Data: r.URL.Query().Get("data")}); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc(signin.CallbackPath, func(w http.ResponseWriter, r *http.Request) {
		result, err := s.signIns.Finish(w, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.result, s.err = result, err
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL
	issuer := identity.Issuer{Name: "idp", URL: s.issuer.URL, Client: identitytest.ClientID, Rules: developers}
	if change != nil {
		change(&issuer)
	}
	issuers, err := identity.New([]identity.Issuer{issuer}, identity.Deps{Client: http.DefaultClient, Now: s.clock})
	if err != nil {
		t.Fatal(err)
	}
	s.signIns = s.configured(issuers, s.url)
	return s
}

func (s *site) configured(issuers *identity.Issuers, origin string) *signin.SignIns {
	s.t.Helper()
	sealer, err := signin.NewSealer()
	if err != nil {
		s.t.Fatal(err)
	}
	made, err := signin.New(signin.Config{
		Origin: origin, Issuers: issuers, Sealer: sealer, HTTP: http.DefaultClient, Now: s.clock,
		Clients: []signin.Client{{Identity: "idp", ID: identitytest.ClientID, Secret: identitytest.ClientSecret}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return made
}

func (s *site) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *site) later(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// browser has cookies, and follows redirects to the end unless it stops before a path.
type browser struct {
	*http.Client
	t      testing.TB
	before string // the path, "" for none
	at     string // where it has stopped, or was last
	status int
}

func newBrowser(t testing.TB) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t}
	b.Client = &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		b.at = r.URL.String()
		if r.URL.Path == b.before {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	return b
}

func (b *browser) open(at string) {
	b.t.Helper()
	b.at = at
	answer, err := b.Get(at)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = answer.Body.Close()
	b.status = answer.StatusCode
}

// signIn signs in and returns how it ended.
func (s *site) signIn(b *browser) (signin.Result, error) {
	s.t.Helper()
	b.open(s.url + "/begin?data=page")
	return s.last()
}

// last is how the last sign-in ended.
func (s *site) last() (signin.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	result, err := s.result, s.err
	s.result, s.err = signin.Result{}, errors.New("nothing has ended")
	return result, err
}

// callback returns the address to which the issuer sends a browser back.
func (s *site) callback(b *browser) string {
	s.t.Helper()
	b.before = signin.CallbackPath
	b.open(s.url + "/begin?data=page")
	b.before = ""
	if !strings.HasPrefix(b.at, s.url+signin.CallbackPath) {
		s.t.Fatalf("it is at %s", b.at)
	}
	return b.at
}

// with returns an address with a parameter changed; "" takes it out.
func with(t testing.TB, at, name, value string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	u.RawQuery = q.Encode()
	return u.String()
}
