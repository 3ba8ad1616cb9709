package authserver

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func programs(c *Config) {
	c.Scopes = []string{"chat:write", "models:read", ResourceScope}
	c.Clients = map[string][]string{"studio": {"studio://signed-in"}}
}

func TestAPersonSignsInToAClientOfTools(t *testing.T) {
	b := start(t, programs)
	client := b.register()
	page := b.look(query(client)).Body.String()
	for _, want := range []string{"<b>github</b>", "calls itself “A client”", "a program on this computer", `value="okta"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q: %s", want, page)
		}
	}
	got := b.agree(query(client))
	if got.Get("iss") != origin || got.Get("state") != "xyz" {
		t.Errorf("%v", got)
	}
	a := b.exchange(client, got.Get("code"))
	if a.Code != 200 || a.text("scope") != ResourceScope || a.text("email") != "" {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	in, _, err := b.Find(t.Context(), a.text("access_token"))
	if err != nil || in.Person != ann || in.Grant.Resource != "/mcp/github" || in.Client != `"A client"` {
		t.Errorf("%+v, %v", in, err)
	}
	next := b.post(b.ServeToken, url.Values{"grant_type": {refreshGrant}, "client_id": {client}, "refresh_token": {a.text("refresh_token")}, "resource": {github}})
	b.want(next, 200, "")
	if in, _, err := b.Find(t.Context(), next.text("access_token")); err != nil || in.Grant.Resource != "/mcp/github" || next.text("scope") != ResourceScope {
		t.Errorf("%+v, %v", in, err)
	}
}

func TestWhatAClientAsksForAndGets(t *testing.T) {
	b := start(t, programs)
	client := b.register()
	for name, c := range map[string]struct {
		ask      []string
		resource string
		scopes   []string
		wrong    string
	}{
		"a server":                      {[]string{"scope", "models:read"}, "/mcp/github", []string{ResourceScope}, ""},
		"a slash at its end":            {[]string{"resource", github + "/"}, "/mcp/github", []string{ResourceScope}, ""},
		"all of the gateway":            {[]string{"resource", origin}, "", []string{"chat:write", "models:read", ResourceScope}, ""},
		"no resource":                   {[]string{"resource", ""}, "", []string{"chat:write", "models:read", ResourceScope}, ""},
		"some scopes, and others":       {[]string{"resource", "", "scope", "openid models:read keys:manage"}, "", []string{"models:read"}, ""},
		"none that there is":            {[]string{"resource", "", "scope", "keys:manage"}, "", nil, "invalid_scope"},
		"a resource of somebody else":   {[]string{"resource", "https://other.example.com/mcp/github"}, "", nil, invalidTarget},
		"another path":                  {[]string{"resource", origin + "/v1"}, "", nil, invalidTarget},
		"a path below a server":         {[]string{"resource", github + "/x"}, "", nil, invalidTarget},
		"a host that only begins so":    {[]string{"resource", origin + ".evil.com/mcp/github"}, "", nil, invalidTarget},
		"an address with a query":       {[]string{"resource", github + "?x"}, "", nil, invalidTarget},
		"no challenge":                  {[]string{"code_challenge", ""}, "", nil, invalidRequest},
		"a plain challenge":             {[]string{"code_challenge_method", "plain"}, "", nil, invalidRequest},
		"a challenge without a method":  {[]string{"code_challenge_method", ""}, "", nil, invalidRequest},
		"a challenge that is no digest": {[]string{"code_challenge", "short"}, "", nil, invalidRequest},
		"a token at once":               {[]string{"response_type", "token"}, "", nil, "unsupported_response_type"},
		"a long state":                  {[]string{"state", strings.Repeat("x", maxState+1)}, "", nil, invalidRequest},
	} {
		q := query(client, c.ask...)
		if c.wrong != "" {
			w := b.look(q)
			got := backOf(w.Body.String())
			if w.Code != 400 || w.Header().Get("Location") != "" || got.Get("error") != c.wrong || got.Get("iss") != origin || got.Get("code") != "" {
				t.Errorf("%s: %d %v %s", name, w.Code, got, w.Body)
			}
			continue
		}
		a := b.exchange(client, b.agree(q).Get("code"), "resource", "")
		in, _, err := b.Find(t.Context(), a.text("access_token"))
		if err != nil || in.Grant.Resource != c.resource || !slices.Equal(in.Grant.Scopes, c.scopes) || a.text("scope") != strings.Join(c.scopes, " ") {
			t.Errorf("%s: %+v, %v, %s", name, in, err, a.Body)
		}
	}
}

func TestAClientIsToldThatTheIdentityProviderIsAway(t *testing.T) {
	b := start(t, programs)
	q := query(b.register())
	on, w := b.press(q, "okta"), httptest.NewRecorder()
	b.pages.Refuse(w, httptest.NewRequest(http.MethodGet, "/", nil), on.Result().Cookies()[0].Value, ErrUnavailable, "Later.")
	if got := backOf(w.Body.String()); got.Get("error") != unavailable {
		t.Errorf("when the browser comes back: %s", w.Body)
	}
	b.idp.away = true
	if on := b.press(q, "okta"); on.Code != 503 || backOf(on.Body.String()).Get("error") != unavailable {
		t.Errorf("before it leaves: %d %s", on.Code, on.Body)
	}
}

func TestAClientGetsOnlyWhatTheRoleHas(t *testing.T) { // RFC 6749, 5.1
	b := start(t, programs)
	client := b.register()
	b.idp.rights = []string{"models:read"}
	a := b.exchange(client, b.agree(query(client, "resource", "", "scope", "chat:write models:read")).Get("code"), "resource", "")
	if b.want(a, 200, ""); a.text("scope") != "models:read" {
		t.Errorf("%s", a.Body)
	}
	on := b.press(query(client), "okta")
	w := b.approve(on.Result().Cookies()[0].Value, ann, "upstream-0")
	if got := backOf(w.Body.String()); w.Code != 403 || w.Header().Get("Location") != "" || got.Get("error") != accessDenied {
		t.Errorf("a client that gets nothing: %d %s", w.Code, w.Body)
	}
}

func TestAPersonRefusesAClient(t *testing.T) {
	b := start(t, programs)
	client := b.register()
	page := b.press(query(client), "refuse")
	if page.Code != 200 || page.Header().Get("Location") != "" || !strings.Contains(page.Body.String(), "error=access_denied") || page.Header().Get("Set-Cookie") != "" {
		t.Errorf("%d %s", page.Code, page.Body)
	}
	// Or the gateway does, whoever agrees.
	code := b.agree(query(client)).Get("code")
	if _, err := b.state.Block(t.Context(), ann); err != nil {
		t.Fatal(err)
	}
	b.want(b.exchange(client, code), 400, invalidGrant)
	on := b.press(query(client), "okta")
	w := b.approve(on.Result().Cookies()[0].Value, ann, "")
	if got := backOf(w.Body.String()); w.Code != 403 || got.Get("error") != accessDenied || got.Get("state") != "xyz" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if again := b.approve(on.Result().Cookies()[0].Value, ann, ""); again.Header().Get("Location") != "" {
		t.Error("an attempt is decided twice")
	}
}

func TestACodeIsGoodOnceAndNotForLong(t *testing.T) {
	b := start(t, programs)
	client := b.register()
	code := b.agree(query(client)).Get("code")
	b.at = b.at.Add(answerLife)
	b.want(b.exchange(client, code), 400, invalidGrant)
	// Twice: what it was for ends too.
	code = b.agree(query(client)).Get("code")
	a := b.exchange(client, code)
	b.want(a, 200, "")
	b.at = b.at.Add(5 * time.Minute)
	if !b.good(a.text("access_token")) {
		t.Fatal("it is not good")
	}
	b.want(b.exchange(client, code, "code_verifier", ""), 400, invalidGrant)
	if b.good(a.text("access_token")) {
		t.Error("a code was used twice, and the sign-in goes on")
	}
	b.want(b.post(b.ServeToken, url.Values{"grant_type": {refreshGrant}, "client_id": {client}, "refresh_token": {a.text("refresh_token")}}), 400, invalidGrant)
}

// A second use may come while the first one is under way, at another gateway.
func TestACodeThatIsUsedTwiceAtOnceGivesNothing(t *testing.T) {
	b := start(t, programs)
	client := b.register()
	code := b.agree(query(client)).Get("code")
	id, sum, _ := b.keys.parse(codePrefix, code)
	a, _, err := redeem(t.Context(), b.Server, id, sum, func(*attempt) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	b.want(b.exchange(client, code), 400, invalidGrant) // the second one
	in := SignIn{ID: idOf(kindSignIn, string(id[:])), Person: a.Person, Grant: a.Grant, Created: a.Created}
	if out, err := begin(t.Context(), b.Server, in, ""); err == nil {
		t.Errorf("the first one gives %+v", out)
	}
	if len(b.state.List()) != 0 {
		t.Error("there is a sign-in")
	}
}

func TestMetadataOfAResource(t *testing.T) {
	b := start(t, programs)
	for path, status := range map[string]int{"/mcp/github": 200, "/mcp/not-there": 200, "/mcp/": 404, "/mcp/a/b": 404, "/v1/models": 404, "/mcp/A": 404} {
		w := httptest.NewRecorder()
		b.ServeResource(w, httptest.NewRequest(http.MethodGet, ResourcePath+path, nil))
		if w.Code != status || status == 200 && jsontest.String(t, w.Body.String(), "resource") != origin+path {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for _, c := range []struct {
		resource, want string
		status         int
	}{
		{"/mcp/github", `Bearer resource_metadata="` + origin + ResourcePath + `/mcp/github", scope="mcp:call"`, 401},
		{"/mcp/github", `Bearer resource_metadata="` + origin + ResourcePath + `/mcp/github", scope="mcp:call", error="insufficient_scope"`, 403},
		{"", "", 401},
		{`/mcp/x", realm="y`, "", 401},
	} {
		if got := b.Challenge(c.resource, c.status); got != c.want {
			t.Errorf("%q: %s", c.resource, got)
		}
	}
}
