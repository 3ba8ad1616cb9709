package handlers

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

func TestHandlersFindTheirGateway(t *testing.T) {
	g := newGateway(t, setup{})
	all, auth, chat := new(Gatehouse), new(Auth), &Endpoint{name: "chat"}
	for _, h := range []caddy.Provisioner{all, auth, chat} {
		must(t, h.Provision(handlerstest.Context(t, g)))
	}
	if all.gateway != g || auth.gateway != g || chat.gateway != g {
		t.Error("a handler has another gateway than the app's")
	}
	without, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	for _, h := range []caddy.Provisioner{new(Gatehouse), new(Auth), new(Endpoint)} {
		if err := h.Provision(without); !errors.Is(err, caddykit.ErrNoApp) {
			t.Errorf("%T without the app: %v", h, err)
		}
	}
}

func TestModulesHaveTheirNames(t *testing.T) {
	for _, m := range []caddy.Module{Gatehouse{}, Auth{}, Endpoint{name: "chat"}} {
		info := m.CaddyModule()
		if made := info.New().CaddyModule().ID; made != info.ID {
			t.Errorf("%s makes a %s", info.ID, made)
		}
		if _, err := caddy.GetModule(string(info.ID)); err != nil {
			t.Error(err)
		}
	}
}

func TestUnknownPathsBelowThePrefixesAreRefused(t *testing.T) {
	g := startGateway(t, setup{})
	call(t, g, "GET", "/v1/assistants", "full", "").Want(t, 404, "unknown_url", "unknown URL (GET /v1/assistants)")
	call(t, g, "POST", "/v1/", "", "").Want(t, 404, "unknown_url", "unknown URL (POST /v1/)")
	a := call(t, g, "GET", "/api/v1/guardrails", "full", "")
	a.Want(t, 404, "not_found", "unknown URL (GET /api/v1/guardrails)")
	if a.Header().Get(api.RequestIDHeader) == "" || a.Header().Get(api.GenerationIDHeader) == "" {
		t.Errorf("headers %v", a.Header())
	}
	call(t, g, "GET", "/elsewhere", "full", "").Want(t, http.StatusTeapot, "", "")
}

// asPreflight makes a request a CORS preflight.
func asPreflight(r *http.Request) *http.Request {
	r.Method = http.MethodOptions
	r.Header.Set("Origin", "https://app.example")
	r.Header.Set("Access-Control-Request-Method", "POST")
	return r
}

func TestPreflightsAreLeftToTheSite(t *testing.T) {
	g := startGateway(t, setup{})
	h := &Gatehouse{gateway: g}
	send(t, h, asPreflight(newTestRequest("OPTIONS", "/v1/models", "", ""))).Want(t, http.StatusTeapot, "", "")
	send(t, &Endpoint{name: "models", gateway: g}, asPreflight(newTestRequest("OPTIONS", "/v1/models", "", ""))).Want(t, http.StatusTeapot, "", "")
	call(t, g, "OPTIONS", "/v1/models", "", "").Want(t, 405, "method_not_allowed", "")
}

func TestOnlyARealPreflightIsLeftToTheSite(t *testing.T) {
	for _, c := range []struct {
		method, origin, asked string
		want                  bool
	}{
		{http.MethodOptions, "https://app.example", "POST", true},
		{http.MethodOptions, "", "POST", false},
		{http.MethodOptions, "https://app.example", "", false},
		{http.MethodPost, "https://app.example", "POST", false},
	} {
		r := httptest.NewRequest(c.method, "/v1/models", nil)
		r.Header.Set("Origin", c.origin)
		r.Header.Set("Access-Control-Request-Method", c.asked)
		if got := preflight(r); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
