package authserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
)

const (
	origin = "https://ai.example.com"
	key    = "0123456789abcdef0123456789abcdef"
)

// idp is an identity provider: its refresh tokens are good once.
type idp struct {
	mu      sync.Mutex
	person  Person
	token   int
	refused error
	moved   bool // it gives out another token and fails then
	asked   int
	rules   string // by which people have roles
	life    time.Duration
	rights  []string // of all roles
	away    bool     // nobody can begin
}

func (*idp) Choices() []string { return []string{"okta"} }

func (p *idp) Begin(w http.ResponseWriter, _ *http.Request, identity, code string) (string, error) {
	if p.away {
		return "", ErrUnavailable
	}
	http.SetCookie(w, &http.Cookie{Name: "under-way", Value: code})
	return "https://idp.example.com/authorize?of=" + identity, nil
}

func (p *idp) Again(_ context.Context, _ Person, refresh string) (Person, string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	switch {
	case p.refused != nil && p.moved:
		p.token++
		return Person{}, fmt.Sprint("upstream-", p.token), p.refused
	case p.refused != nil:
		return Person{}, "", p.refused
	case refresh != fmt.Sprint("upstream-", p.token):
		return Person{}, "", fmt.Errorf("%w: the token was used before", ErrRefused)
	}
	p.token++
	person := p.person
	person.By = p.rules
	return person, fmt.Sprint("upstream-", p.token), nil
}

func (p *idp) Still(of Person) bool { return of.By == p.rules }

func (p *idp) Rights(string) []string { return p.rights }

func (p *idp) MaxLife(string) time.Duration { return p.life }

// bench is a server with a clock and an identity provider.
type bench struct {
	*Server
	pages *Pages
	t     testing.TB
	at    time.Time
	idp   *idp
}

func start(t testing.TB, edit ...func(*Config)) *bench {
	t.Helper()
	b := &bench{t: t, at: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC), idp: &idp{person: ann, rights: []string{"chat:write", "models:read", ResourceScope}}}
	state := NewState(func() time.Time { return b.at })
	if err := state.Open(t.Context(), newMemory()); err != nil {
		t.Fatal(err)
	}
	c := Config{Origin: origin, Keys: []string{key}}
	for _, f := range edit {
		f(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	b.Server = s.With(state, b.idp, zap.NewNop())
	b.pages = NewPages(b.Server)
	return b
}

var ann = Person{ID: "okta-1", Hash: "hash of ann", Name: "ann@example.com", Identity: "okta", Role: "developer"}

// answer is one of an endpoint.
type answer struct {
	*httptest.ResponseRecorder
	fields map[string]any
}

func (a answer) text(name string) string {
	text, _ := a.fields[name].(string)
	return text
}

func (b *bench) post(serve func(http.ResponseWriter, *http.Request), form url.Values) answer {
	b.t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	a := answer{httptest.NewRecorder(), map[string]any{}}
	serve(a, r)
	_ = json.Unmarshal(a.Body.Bytes(), &a.fields)
	return a
}

func (b *bench) want(a answer, status int, code string) {
	b.t.Helper()
	if a.Code != status || a.text("error") != code {
		b.t.Errorf("%d %s, want %d %q", a.Code, a.Body, status, code)
	}
}

// device begins a sign-in of a client.
func (b *bench) device() (device, user string) {
	b.t.Helper()
	a := b.post(b.ServeDevice, url.Values{"surface": {"claude_code"}})
	b.want(a, 200, "")
	return a.text("device_code"), a.text("user_code")
}

func (b *bench) poll(device string) answer {
	b.t.Helper()
	return b.post(b.ServeToken, url.Values{"grant_type": {deviceGrant}, "device_code": {device}})
}

func (b *bench) renew(refresh string) answer {
	b.t.Helper()
	return b.post(b.ServeToken, url.Values{"grant_type": {refreshGrant}, "refresh_token": {refresh}})
}

// approve signs a person in for a code, as a browser that comes back.
func (b *bench) approve(user string, p Person, upstream string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.pages.Finish(w, httptest.NewRequest(http.MethodGet, "/", nil), user, p, upstream)
	return w
}

// signIn signs ann in.
func (b *bench) signIn() (access, refresh string) {
	b.t.Helper()
	device, user := b.device()
	b.approve(user, ann, fmt.Sprint("upstream-", b.idp.token))
	a := b.poll(device)
	b.want(a, 200, "")
	return a.text("access_token"), a.text("refresh_token")
}

func (b *bench) good(token string) bool {
	_, _, err := b.Find(b.t.Context(), token)
	return err == nil
}

func (b *bench) get(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.pages.ServePage(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}
