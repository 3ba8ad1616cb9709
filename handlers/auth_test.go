package handlers

import (
	"fmt"
	"net/http"
	"reflect"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

// guarded sends a request through gatehouse_auth and returns what the next handler got, nil if it
// did not run.
func guarded(t *testing.T, g *gateway.Gateway, required keys.Scope, r *http.Request) (*answer, *http.Request) {
	t.Helper()
	a, next := newAnswer(), new(nextHandler)
	must(t, (&Auth{required: required, gateway: g}).ServeHTTP(a, r, next))
	if a.Heads != 1 || (a.Code == http.StatusTeapot) != (next.Got != nil) {
		t.Errorf("%d statuses, %d", a.Heads, a.Code)
	}
	return a, next.Got
}

func TestAuthRequiresAllItsScopes(t *testing.T) {
	ctx := handlerstest.Context(t, newGateway(t, setup{}))
	h := &Auth{Scopes: []string{"chat:write", "models:read"}}
	must(t, h.Provision(ctx))
	if h.required != keys.ChatWrite|keys.ModelsRead {
		t.Errorf("scopes %s", h.required)
	}
	if err := (&Auth{Scopes: []string{"chat:read"}}).Provision(ctx); err == nil || err.Error()[:len("gatehouse_auth: ")] != "gatehouse_auth: " {
		t.Errorf("error %v", err)
	}
	g := startGateway(t, setup{})
	for key, status := range map[string]int{"full": 418, "chat": 403, "models": 403, "": 401} {
		a, _ := guarded(t, g, h.required, newTestRequest("GET", "/internal", key, ""))
		if a.Code != status {
			t.Errorf("key %q: %d %s", key, a.Code, a.Body)
		}
	}
	a, _ := guarded(t, g, 0, newTestRequest("GET", "/internal", "chat", ""))
	a.Want(t, 418, "", "")
}

func TestAuthRefusesInTheFamilysShape(t *testing.T) {
	g := startGateway(t, setup{})
	a, _ := guarded(t, g, keys.ModelsRead, newTestRequest("GET", "/internal", "chat", ""))
	a.Want(t, 403, "insufficient_scope", `"chat" has no scope models:read`)
	a, _ = guarded(t, g, keys.ModelsRead, newTestRequest("GET", "/api/v1/other", "chat", ""))
	a.Want(t, 403, "permission_denied", "models:read")
	found := rows(t, g)
	if len(found) != 2 || found[0].Route != "gatehouse_auth" || found[0].Status != 403 {
		t.Errorf("rows %+v", found)
	}
	a, _ = guarded(t, g, 0, newTestRequest("GET", "/internal", "", ""))
	if a.Want(t, 401, "invalid_api_key", ""); a.Header().Get("WWW-Authenticate") == "" {
		t.Errorf("headers %v", a.Header())
	}
}

func TestAuthRefusesWhileTheGatewayCannotServe(t *testing.T) {
	never := newGateway(t, setup{})
	never.Close()
	a, _ := guarded(t, never, 0, newTestRequest("GET", "/internal", "full", ""))
	a.Want(t, 503, "shutting_down", "did not start")
	replaced := startGateway(t, setup{})
	replaced.Close()
	a, _ = guarded(t, replaced, keys.ModelsRead, newTestRequest("GET", "/internal", "chat", ""))
	a.Want(t, 503, "shutting_down", "was replaced")
}

func TestTheNextHandlerGetsTheCallerAndNoKey(t *testing.T) {
	g := startGateway(t, setup{})
	r, repl := withReplacer(newTestRequest("GET", "/internal", "full", ""))
	r.Header.Set("X-Other", "kept")
	_, got := guarded(t, g, 0, r)
	if got.Header.Get("Authorization") != "" || got.Header.Get("X-Other") != "kept" || r.Header.Get("Authorization") == "" {
		t.Errorf("next got %v; the site's log %v", got.Header, r.Header)
	}
	if user, _ := repl.GetString("http.auth.user.id"); user != "full" {
		t.Errorf("user %q", user)
	}
	if repl, ok := got.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); !ok || repl == nil {
		t.Error("the request's context was lost")
	}
}

// A backend could only use a key of the gateway to call the gateway. What is none may be the backend's.
func TestTheNextHandlerGetsNoKeyOfAnybody(t *testing.T) {
	const unknown = "gh-0123456789abcdefghijKLMNOPQRSTUVWXYZ_-01234"
	g := startGateway(t, setup{})
	for _, preflighted := range []bool{false, true} {
		r := newTestRequest("GET", "/internal", "full", "")
		if preflighted {
			r = asPreflight(newTestRequest("OPTIONS", "/internal", "full", ""))
		}
		r.Header["X-Api-Key"] = []string{"theirs", secretOf("full"), secretOf("other"), unknown}
		r.Header["X-Goog-Api-Key"] = []string{secretOf("other")}
		r.Header["Proxy-Authorization"] = []string{"Bearer theirs", "Bearer  " + secretOf("other") + " "}
		sent := r.Header.Clone()
		_, got := guarded(t, g, 0, r)
		want := map[string]string{"X-Api-Key": "[theirs]", "X-Goog-Api-Key": "[]", "Proxy-Authorization": "[Bearer theirs]", "Authorization": "[]"}
		if preflighted {
			want["X-Api-Key"] = "[]"
		}
		for name, values := range want {
			if found := fmt.Sprint(got.Header[name]); found != values {
				t.Errorf("preflight %v: %s: %s", preflighted, name, found)
			}
		}
		if !reflect.DeepEqual(r.Header, sent) {
			t.Errorf("the header of the client has changed: %v", r.Header)
		}
	}
}

// Google's SDKs can send the key in the query.
func TestTheNextHandlerGetsNoKeyInTheQuery(t *testing.T) {
	g := startGateway(t, setup{})
	for _, c := range []struct{ query, want string }{
		{"b=2&key=" + secretOf("full") + "&a=1%2F2", "a=1%2F2&b=2"},
		{"b=2&key=theirs&a", "b=2&key=theirs&a"},
	} {
		r := newTestRequest("GET", "/v1beta/internal?"+c.query, "", "")
		if c.want == c.query {
			r.Header.Set("X-Goog-Api-Key", secretOf("full"))
		}
		_, got := guarded(t, g, 0, r)
		if got.URL.RawQuery != c.want || got.RequestURI != "/v1beta/internal?"+c.want || r.URL.RawQuery != c.query {
			t.Errorf("next got %s and %s, the site's log %s", got.URL, got.RequestURI, r.URL)
		}
	}
}

// An endpoint behind gatehouse_auth has the caller of it, with the caller's own scopes.
func TestALaterEndpointReusesTheCaller(t *testing.T) {
	g := startGateway(t, setup{})
	for key, status := range map[string]int{"full": 200, "chat": 403} {
		a := newAnswer()
		next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
			return (&Gatehouse{gateway: g}).ServeHTTP(w, r, new(nextHandler))
		})
		must(t, (&Auth{gateway: g}).ServeHTTP(a, newTestRequest("GET", "/v1/models", key, ""), next))
		if a.Code != status || a.Heads != 1 {
			t.Errorf("key %s: %d, %d statuses: %s", key, a.Code, a.Heads, a.Body)
		}
	}
}

// Nobody authenticates a preflight: a backend must not take it for more, and gets no key with it.
func TestPreflightsPassAuthWithoutOverridesAndKey(t *testing.T) {
	g := newGateway(t, setup{}) // not even started
	r := asPreflight(newTestRequest("OPTIONS", "/internal", "full", ""))
	for _, name := range []string{"X-Http-Method", "X-Http-Method-Override", "X-Method-Override"} {
		r.Header.Set(name, "DELETE")
	}
	_, got := guarded(t, g, keys.ChatWrite, r)
	for _, name := range []string{"X-Http-Method", "X-Http-Method-Override", "X-Method-Override", "Authorization"} {
		if value := got.Header.Get(name); value != "" {
			t.Errorf("%s: %s", name, value)
		}
	}
	if got.Header.Get("Origin") == "" {
		t.Errorf("next got %v", got.Header)
	}
	// One with a body is no preflight of a browser.
	a, _ := guarded(t, startGateway(t, setup{}), 0, asPreflight(newTestRequest("OPTIONS", "/internal", "", "x")))
	a.Want(t, 401, "invalid_api_key", "")
}
