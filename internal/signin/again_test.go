package signin_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/signin"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/identitytest"
)

func signedIn(t *testing.T, s *site) signin.Result {
	t.Helper()
	got, err := s.signIn(newBrowser(t))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTheProviderIsAskedAgain(t *testing.T) {
	for name, q := range map[string]identitytest.Quirks{"plain": {}, "without an ID token": {NoIDTokenAgain: true}, "thin": {Thin: true}} {
		s := newSite(t, nil)
		s.issuer.Behave(q)
		before := signedIn(t, s)
		s.later(5 * time.Minute)
		s.issuer.SignIn("ann", map[string]any{"groups": "developers", "email": "new@example.com", "email_verified": true})
		now, err := s.signIns.Again(t.Context(), "idp", before.Person.ID, before.Refresh)
		if err != nil || now.Person.ID != before.Person.ID || now.Person.Name != "new@example.com" || now.Refresh == "" || now.Refresh == before.Refresh ||
			!now.Person.Ends.After(before.Person.Ends) {
			t.Errorf("%s: %+v, %v", name, now, err)
		}
	}
}

func TestThreeAnswersOfAProvider(t *testing.T) {
	token := func(status int, body string) identitytest.Quirks {
		return identitytest.Quirks{Token: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}}
	}
	for name, c := range map[string]struct {
		quirks identitytest.Quirks
		want   error
	}{
		"gone":            {token(400, `{"error":"invalid_grant","error_description":"secret words"}`), signin.ErrGone},
		"a person needed": {token(400, `{"error":"interaction_required"}`), signin.ErrGone},
		"wrong secret":    {token(401, `{"error":"invalid_client"}`), signin.ErrUnavailable},
		"too many":        {token(429, `secret words`), signin.ErrUnavailable},
		"broken":          {token(500, `{"error":"invalid_grant, or not"}`), signin.ErrUnavailable},
		"no JSON":         {token(200, `<html>`), signin.ErrUnavailable},
		"somebody else":   {identitytest.Quirks{Claims: map[string]any{"sub": "bob"}}, signin.ErrGone},
		"wrong audience":  {identitytest.Quirks{Claims: map[string]any{"aud": "other"}}, signin.ErrUnavailable},
	} {
		s := newSite(t, nil)
		before := signedIn(t, s)
		s.issuer.Behave(c.quirks)
		got, err := s.signIns.Again(t.Context(), "idp", before.Person.ID, before.Refresh)
		if !errors.Is(err, c.want) || got.Person.Role != "" || strings.Contains(err.Error(), "secret words") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	s := newSite(t, nil)
	before := signedIn(t, s)
	if _, err := s.signIns.Again(t.Context(), "idp", before.Person.ID, ""); !errors.Is(err, signin.ErrGone) {
		t.Errorf("no token to ask with: %v", err)
	}
	s.issuer.End("ann")
	if _, err := s.signIns.Again(t.Context(), "idp", before.Person.ID, before.Refresh); !errors.Is(err, signin.ErrGone) {
		t.Errorf("ended: %v", err)
	}
	s = newSite(t, nil)
	before = signedIn(t, s)
	s.issuer.SignIn("ann", map[string]any{"groups": "others"})
	var none *identity.NoRoleError
	if _, err := s.signIns.Again(t.Context(), "idp", before.Person.ID, before.Refresh); !errors.As(err, &none) {
		t.Errorf("no role any longer: %v", err)
	}
}

// A token of anybody, with a key that nobody has, holds back the reading of keys for a minute.
func TestAKeyThatIsNotKnownYetEndsNoSignIn(t *testing.T) {
	s := newSite(t, nil)
	before := signedIn(t, s)
	s.issuer.Rotate("two")
	got, err := s.signIns.Again(t.Context(), "idp", before.Person.ID, before.Refresh)
	if !errors.Is(err, signin.ErrUnavailable) || got.Refresh == "" {
		t.Fatalf("%+v, %v", got, err)
	}
	s.later(time.Minute)
	if got, err = s.signIns.Again(t.Context(), "idp", before.Person.ID, got.Refresh); err != nil || got.Person.Role != "developer" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Some providers take a refresh token more than once: then it is good still, and nothing is kept.
func TestATokenThatStaysIsAskedWithAgain(t *testing.T) {
	s := newSite(t, nil)
	before := signedIn(t, s)
	s.issuer.Behave(identitytest.Quirks{NoRefresh: true, Claims: map[string]any{"aud": "other"}})
	for range 2 {
		asked := s.issuer.Asked()
		if got, err := s.signIns.Again(t.Context(), "idp", before.Person.ID, before.Refresh); got.Refresh != "" || s.issuer.Asked() == asked {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// Providers take a refresh token once.
func TestThoseWhoAskTogetherGetOneAnswer(t *testing.T) {
	s := newSite(t, nil)
	before := signedIn(t, s)
	asked := s.issuer.Asked()
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if got, err := s.signIns.Again(context.Background(), "idp", before.Person.ID, before.Refresh); err != nil || got.Refresh == "" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	all.Wait()
	if n := s.issuer.Asked() - asked; n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	s.later(time.Minute)
	if _, err := s.signIns.Again(t.Context(), "idp", before.Person.ID, before.Refresh); err != nil {
		t.Errorf("whose answer was lost, and asks half a minute later: %v", err)
	}
	s.later(time.Minute + time.Second)
	if _, err := s.signIns.Again(t.Context(), "idp", before.Person.ID, before.Refresh); !errors.Is(err, signin.ErrGone) {
		t.Errorf("the token of two minutes ago: %v", err)
	}
}

func TestWhoLeavesGetsTheNextToken(t *testing.T) {
	s := newSite(t, nil)
	before := signedIn(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := s.signIns.Again(ctx, "idp", before.Person.ID, before.Refresh); err != nil || got.Refresh == "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// An answer by the rules of another configuration gives the next token and nothing more.
func TestConfigurationsShareTokensAndNoRoles(t *testing.T) {
	s, flights := newSite(t, nil), signin.NewFlights()
	before := signedIn(t, s)
	again := func(of *signin.SignIns, refresh string) (signin.Result, error) {
		of.Share(of.Sealer(), flights)
		return of.Again(t.Context(), "idp", before.Person.ID, refresh)
	}
	if _, err := again(s.signIns, before.Refresh); err != nil {
		t.Fatal(err)
	}
	configured := func(role string) *signin.SignIns {
		issuers, err := identity.New([]identity.Issuer{{Name: "idp", URL: s.issuer.URL, Client: identitytest.ClientID, Rules: []identity.Rule{{Role: role}}}},
			identity.Deps{Client: http.DefaultClient, Now: s.clock})
		if err != nil {
			t.Fatal(err)
		}
		return s.configured(issuers, s.url)
	}
	next := configured("other")
	got, err := again(next, before.Refresh)
	if !errors.Is(err, signin.ErrUnavailable) || got.Person.ID != "" || got.Refresh == "" {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err = again(next, got.Refresh); err != nil || got.Person.Role != "other" {
		t.Errorf("%+v, %v", got, err)
	}
	// A token that stays is asked with once more.
	s.issuer.Behave(identitytest.Quirks{NoRefresh: true})
	for _, role := range []string{"first", "second", "third"} {
		if now, err := again(configured(role), got.Refresh); err != nil || now.Person.Role != role {
			t.Errorf("%s: %+v, %v", role, now, err)
		}
	}
}

// Anybody can send codes that are none, with the cookie of one sign-in.
func TestCodesHoldUpNobodyWhoIsSignedIn(t *testing.T) {
	s := newSite(t, nil)
	before := signedIn(t, s)
	b := newBrowser(t)
	at := s.callback(b)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range b.Jar.Cookies(r.URL) {
		r.AddCookie(cookie)
	}
	const many = 32
	wait, asked := make(chan struct{}), make(chan struct{}, many)
	s.issuer.Behave(identitytest.Quirks{Token: func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("grant_type") == "authorization_code" {
			asked <- struct{}{}
			<-wait
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
	}})
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			answer, err := http.DefaultClient.Do(r.Clone(t.Context()))
			if err != nil {
				t.Error(err)
				return
			}
			_ = answer.Body.Close()
		})
	}
	for range many {
		<-asked
	}
	if _, err := s.signIns.Again(t.Context(), "idp", before.Person.ID, before.Refresh); !errors.Is(err, signin.ErrGone) {
		t.Errorf("a refresh has no answer: %v", err)
	}
	close(wait)
	all.Wait()
}

// A provider that is slow holds nobody for longer than 3 s, and a lost answer is not the end.
func TestASlowProvider(t *testing.T) {
	s := newSite(t, nil)
	before := signedIn(t, s)
	wait := make(chan struct{})
	s.issuer.Behave(identitytest.Quirks{Token: func(http.ResponseWriter, *http.Request) { <-wait }})
	t.Cleanup(func() { close(wait) })
	begun := time.Now()
	if _, err := s.signIns.Again(t.Context(), "idp", before.Person.ID, before.Refresh); !errors.Is(err, signin.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if d := time.Since(begun); d > 4500*time.Millisecond {
		t.Errorf("it took %v", d)
	}
	s.issuer.Behave(identitytest.Quirks{})
	var err error
	for range 100 { // the first are told what the question was told that ends just now
		if _, err = s.signIns.Again(t.Context(), "idp", before.Person.ID, before.Refresh); err == nil {
			return
		}
	}
	t.Errorf("it is back: %v", err)
}
