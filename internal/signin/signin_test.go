package signin_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/signin"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/identitytest"
)

func TestSomebodySignsIn(t *testing.T) {
	for name, q := range map[string]identitytest.Quirks{
		"plain": {}, "thin ID tokens": {Thin: true}, "secret in the form": {SecretInBody: true}, "names itself": {NamesItself: true}, "no refresh": {NoRefresh: true},
		"for several clients": {Claims: map[string]any{"aud": []string{identitytest.ClientID, "other"}, "azp": identitytest.ClientID}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			s.issuer.Behave(q)
			got, err := s.signIn(newBrowser(t))
			if err != nil {
				t.Fatal(err)
			}
			p := got.Person
			if got.Identity != "idp" || !strings.HasPrefix(p.ID, "idp-") || p.Name != "ann@example.com" || p.Role != "developer" || got.Next != (signin.Next{Purpose: "test", Data: "page"}) {
				t.Errorf("%+v", got)
			}
			if (got.Refresh == "") != q.NoRefresh || !p.Ends.Equal(s.clock().Add(signin.Life)) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// The person is the same as the one whom an access token of the issuer names.
func TestASignInAndATokenNameTheSamePerson(t *testing.T) {
	s := newSite(t, nil)
	issuers, err := identity.New([]identity.Issuer{{Name: "idp", URL: s.issuer.URL, Audiences: []string{"gatehouse"}, Client: identitytest.ClientID, Rules: developers}},
		identity.Deps{Client: http.DefaultClient, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	s.signIns = s.configured(issuers, s.url)
	got, err := s.signIn(newBrowser(t))
	if err != nil {
		t.Fatal(err)
	}
	byToken, err := issuers.Person(s.issuer.Token("ann", "gatehouse", map[string]any{"groups": "developers"}))
	if err != nil || byToken.ID != got.Person.ID || byToken.By != got.Person.By {
		t.Errorf("%+v, %v; want %+v", byToken, err, got.Person)
	}
	if _, err := issuers.Person(s.issuer.Token("ann", identitytest.ClientID, map[string]any{"groups": "developers"})); !errors.Is(err, identity.ErrInvalid) {
		t.Errorf("an ID token as a bearer: %v", err)
	}
}

// What somebody does who is not at the browser that has begun, or who speaks for the provider.
func TestAttacksOnASignIn(t *testing.T) {
	q := func(name string, value any) identitytest.Quirks {
		return identitytest.Quirks{Claims: map[string]any{name: value}}
	}
	signsIn := func(s *site, b *browser) { b.open(s.url + "/begin") }
	returns := func(change func(s *site, b *browser, at string) string) func(*site, *browser) {
		return func(s *site, b *browser) {
			at := s.callback(b)
			b.open(change(s, b, at))
		}
	}
	for name, c := range map[string]struct {
		quirks identitytest.Quirks
		do     func(*site, *browser)
		want   error
	}{
		"nothing":            {do: signsIn},
		"another nonce":      {q("nonce", "other"), signsIn, identity.ErrInvalid},
		"no nonce":           {q("nonce", nil), signsIn, identity.ErrInvalid},
		"another audience":   {q("aud", "other"), signsIn, identity.ErrInvalid},
		"several audiences":  {q("aud", []string{identitytest.ClientID, "other"}), signsIn, identity.ErrInvalid},
		"another azp":        {q("azp", "other"), signsIn, identity.ErrInvalid},
		"another issuer":     {q("iss", "https://other.example.com"), signsIn, identity.ErrInvalid},
		"it has ended":       {q("exp", time.Now().Add(-time.Hour).Unix()), signsIn, identity.ErrInvalid},
		"no end":             {q("exp", nil), signsIn, identity.ErrInvalid},
		"no subject":         {q("sub", nil), signsIn, identity.ErrInvalid},
		"userinfo of others": {identitytest.Quirks{Thin: true, UserInfoOf: "bob"}, signsIn, identity.ErrInvalid},
		"mix-up":             {identitytest.Quirks{ReturnsAs: "https://other.example.com"}, signsIn, identity.ErrInvalid},
		"mix-up, iss left out": {identitytest.Quirks{NamesItself: true}, returns(func(s *site, _ *browser, at string) string {
			return with(s.t, at, "iss", "")
		}), identity.ErrInvalid},
		"another state": {do: returns(func(s *site, _ *browser, at string) string {
			u, _ := url.Parse(at)
			return with(s.t, at, "state", u.Query().Get("state")[:40]+"abc")
		}), want: signin.ErrNotBegun},
		"no state": {do: returns(func(s *site, _ *browser, at string) string { return with(s.t, at, "state", "") }), want: signin.ErrNotBegun},
		"no code":  {do: returns(func(s *site, _ *browser, at string) string { return with(s.t, at, "code", "") }), want: identity.ErrInvalid},
		"a code of somebody else's sign-in": {do: func(s *site, b *browser) {
			other := newBrowser(s.t)
			u, _ := url.Parse(s.callback(other))
			b.open(with(s.t, s.callback(b), "code", u.Query().Get("code")))
		}, want: identity.ErrInvalid}, // PKCE
		"in another browser": {do: func(s *site, b *browser) { newBrowser(s.t).open(s.callback(b)) }, want: signin.ErrNotBegun},
		"again":              {do: returns(func(_ *site, b *browser, at string) string { b.open(at); return at }), want: signin.ErrNotBegun},
		"after ten minutes":  {do: returns(func(s *site, _ *browser, at string) string { s.later(10 * time.Minute); return at }), want: signin.ErrNotBegun},
		"at another origin": {do: returns(func(s *site, _ *browser, at string) string {
			s.signIns = s.signIns.At("http://localhost:1")
			return at
		}), want: signin.ErrNotBegun},
		"an answer without end": {identitytest.Quirks{Token: func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"access_token":"a","token_type":"Bearer","id_token":"%s"}`, strings.Repeat("a", 1<<20))
		}}, signsIn, signin.ErrUnavailable},
		"no JSON": {identitytest.Quirks{Token: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }}, signsIn, signin.ErrUnavailable},
		"a redirect with the secret": {identitytest.Quirks{Token: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}}, signsIn, signin.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			s.issuer.Behave(c.quirks)
			c.do(s, newBrowser(t))
			got, err := s.last()
			if !errors.Is(err, c.want) {
				t.Errorf("%+v, %v; want %v", got, err, c.want)
			}
			if err != nil && (got.Person.Role != "" || strings.Contains(err.Error(), "secret words") || strings.Contains(err.Error(), identitytest.ClientSecret)) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestWhomTheProviderRefuses(t *testing.T) {
	s := newSite(t, nil)
	s.issuer.End("ann")
	got, err := s.signIn(newBrowser(t))
	var refused *signin.RefusedError
	if !errors.As(err, &refused) || refused.Code != "access_denied" || got.Next.Data != "page" {
		t.Errorf("%+v, %v", got, err)
	}
	s.issuer.SignIn("eve", map[string]any{"groups": "others"})
	got, err = s.signIn(newBrowser(t))
	var none *identity.NoRoleError
	if !errors.As(err, &none) || got.Person.Role != "" || got.Person.ID == "" || none.Seen != "groups others" {
		t.Errorf("%+v, %v", got, err)
	}
	// A text of a link is not shown.
	b := newBrowser(t)
	b.open(with(t, with(t, s.callback(b), "code", ""), "error", "Call 555-0100 <b>now</b>"))
	if _, err = s.last(); !errors.As(err, &refused) || strings.Contains(err.Error(), "555") {
		t.Errorf("%v", err)
	}
}

func TestAnAddressCountsOnlyIfItIsVerified(t *testing.T) {
	for name, c := range map[string]struct {
		token, userinfo map[string]any
		ok              bool
	}{
		"in the userinfo":               {nil, map[string]any{"email": "ann@example.com", "email_verified": true}, true},
		"not verified":                  {nil, map[string]any{"email": "ann@example.com", "email_verified": false}, false},
		"another one":                   {map[string]any{"email": "ann@example.com"}, map[string]any{"email": "ann@other.example", "email_verified": true}, false},
		"said of none":                  {map[string]any{"email_verified": true}, map[string]any{"email": "ann@example.com"}, false},
		"the same one":                  {map[string]any{"email": "ann@example.com"}, map[string]any{"email": "ann@example.com", "email_verified": true}, true},
		"lists, which are no addresses": {map[string]any{"email": []string{"ann@example.com"}}, map[string]any{"email": []string{"ann@example.com"}, "email_verified": true}, false},
		"what is signed is not changed": {map[string]any{"email": "ann@other.example"}, map[string]any{"email": "ann@example.com", "email_verified": true}, false},
	} {
		s := newSite(t, func(i *identity.Issuer) {
			i.User = "department" // is in the userinfo alone
			i.Rules = []identity.Rule{{Role: "developer", Conditions: []identity.Condition{{Claim: "email", Values: []string{"*@example.com"}}}}}
		})
		s.issuer.SignIn("ann", c.userinfo)
		s.issuer.Behave(identitytest.Quirks{Thin: true, Claims: c.token})
		var none *identity.NoRoleError
		if got, err := s.signIn(newBrowser(t)); c.ok && (err != nil || got.Person.Role != "developer") || !c.ok && !errors.As(err, &none) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestSeveralTabsSignInAndTheirNumberIsBounded(t *testing.T) {
	s := newSite(t, nil)
	b := newBrowser(t)
	first, second := s.callback(b), s.callback(b)
	for _, at := range []string{first, second} {
		b.open(at)
		if _, err := s.last(); err != nil {
			t.Error(err)
		}
	}
	u, _ := url.Parse(s.url)
	for range 20 {
		s.callback(b)
		if n := len(b.Jar.Cookies(u)); n > 4 {
			t.Fatalf("%d cookies", n)
		}
	}
}

func TestTheCookieIsForTheServerOfOneOrigin(t *testing.T) {
	s := newSite(t, nil)
	for origin, want := range map[string]string{
		"https://ai.example.com": "__Host-gatehouse-sign-in-", "http://localhost:8080": "gatehouse-sign-in-",
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "https://evil.example/", nil)
		if err := s.signIns.At(origin).Begin(w, r, "idp", signin.Next{Data: strings.Repeat("x", 1<<10)}); err != nil {
			t.Fatal(err)
		}
		c := w.Result().Cookies()[0]
		if !strings.HasPrefix(c.Name, want) || !c.HttpOnly || c.Secure != (want[0] == '_') || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || len(c.Name+c.Value) > 4000 {
			t.Errorf("%d bytes: %+v", len(c.Value), c)
		}
		to, err := w.Result().Location()
		if err != nil || to.Query().Get("redirect_uri") != origin+"/.gatehouse/callback" || to.Query().Get("scope") != "openid profile email" {
			t.Errorf("%v, %v", to, err)
		}
		// The address has nothing of what the cookie keeps.
		if text := to.String(); strings.Contains(text, "xxxx") || strings.Contains(text, c.Value[:20]) {
			t.Error(text)
		}
	}
	if err := s.signIns.Begin(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil), "idp", signin.Next{Data: strings.Repeat("x", 2<<10)}); err == nil {
		t.Error("a cookie that browsers do not keep")
	}
	if err := s.signIns.Begin(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil), "other", signin.Next{}); err == nil {
		t.Error("an identity that is not there")
	}
}

func TestAProviderThatIsAway(t *testing.T) {
	s := newSite(t, nil)
	s.issuer.Away(true)
	b := newBrowser(t)
	if b.open(s.url + "/begin"); b.status != http.StatusServiceUnavailable {
		t.Errorf("status %d", b.status)
	}
	s.issuer.Away(false)
	if b.open(s.url + "/begin"); b.status != http.StatusServiceUnavailable {
		t.Errorf("status %d: it is asked again at once", b.status)
	}
	s.later(5 * time.Second)
	at := s.callback(b)
	s.issuer.Away(true)
	b.open(at)
	if _, err := s.last(); !errors.Is(err, signin.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	// What it has said of itself stays known.
	s.later(2 * time.Hour)
	b.before = "/authorize"
	b.open(s.url + "/begin")
	if b.status != http.StatusSeeOther {
		t.Errorf("status %d", b.status)
	}
}

func TestConfigurationsThatCannotBe(t *testing.T) {
	for _, origin := range []string{"", "ai.example.com", "https://AI.example.com", "https://ai.example.com/", "https://ai.example.com/x", "https://ai.example.com:443", "http://ai.example.com", "https://u@ai.example.com", "https://ai.example.com?x"} {
		if signin.CheckOrigin(origin) == nil {
			t.Errorf("%q is no origin", origin)
		}
	}
	for _, origin := range []string{"https://ai.example.com", "https://ai.example.com:8443", "http://localhost:8080", "http://127.0.0.1"} {
		if err := signin.CheckOrigin(origin); err != nil {
			t.Error(err)
		}
	}
	s := newSite(t, nil)
	issuers, err := identity.New([]identity.Issuer{{Name: "idp", URL: s.issuer.URL, Client: "c", Rules: developers}}, identity.Deps{Client: http.DefaultClient, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]signin.Client{
		"id is missing": {Secret: "s"}, "secret is missing": {ID: "c"}, "openid is needed": {ID: "c", Secret: "s", Scopes: []string{"profile"}},
	} {
		c.Identity = "idp"
		if _, err := signin.New(signin.Config{Origin: "https://ai.example.com", Issuers: issuers, Clients: []signin.Client{c}, HTTP: http.DefaultClient, Now: time.Now}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
