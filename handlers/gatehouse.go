// Package handlers has the HTTP modules of Gatehouse: one thin file for each endpoint.
//
// http.handlers.gatehouse serves the whole route table of all SDK families;
// http.handlers.gatehouse_<endpoint> serves one endpoint wherever a route puts it;
// http.handlers.gatehouse_auth only authenticates. Each asks the gatehouse app for its gateway. No
// endpoint runs for a caller who was not authenticated.
package handlers

import (
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

func init() {
	caddy.RegisterModule(Gatehouse{})
}

// Gatehouse serves the API of all SDK families: every path below /v1/ and /api/v1/. It owns those
// paths, so an unknown one is a 404 and a wrong method a 405 in the family's own error shape. All
// other paths, and CORS preflights (which belong to the site's own configuration), go to the next
// handler.
type Gatehouse struct {
	gateway *gateway.Gateway
}

// CaddyModule returns the module's information.
func (Gatehouse) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse", New: func() caddy.Module { return new(Gatehouse) }}
}

// Provision finds the gateway of the gatehouse app.
func (h *Gatehouse) Provision(ctx caddy.Context) (err error) {
	h.gateway, err = caddykit.Gateway(ctx)
	return err
}

func (h *Gatehouse) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if preflight(r) {
		return next.ServeHTTP(w, r)
	}
	if found := matchRequest(r); found != nil {
		return serve(h.gateway, w, r, found)
	}
	a, ours := api.Of(r.URL.Path)
	if !ours {
		if refusal := missingPrefix(r.URL.Path); refusal != nil {
			return refuse(h.gateway, w, r, api.ByHeader(r.Header, api.OpenAI{}), refusal)
		}
		return next.ServeHTTP(w, r)
	}
	return refuse(h.gateway, w, r, api.ByHeader(r.Header, a), unknownURL(r))
}

func unknownURL(r *http.Request) *apierror.Error {
	refusal := apierror.New(apierror.UnknownURL, "unknown URL (%.10s %.200s)", r.Method, r.URL.Path)
	if strings.Contains(r.URL.Path, "/v1/v1/") {
		refusal.Message += ": the base URL of this SDK must not end in /v1, which it adds itself"
	}
	return refusal
}

// preflight reports whether the request is a CORS preflight (Fetch standard, 3.3.2).
func preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// missingPrefix is the refusal of a request whose SDK was given a base URL without the prefix of
// its family, nil for any other: the next handler's answer would not say what is wrong.
func missingPrefix(path string) *apierror.Error {
	switch strings.TrimSuffix(path, "/") {
	case "/messages", "/messages/count_tokens":
		return apierror.New(apierror.UnknownURL, "unknown URL %s: the address of this API is /v1/messages; set the SDK's base URL so that it is asked for", path)
	case "/chat/completions", "/responses", "/models":
		return apierror.New(apierror.UnknownURL, "unknown URL %s: the SDK's base URL must end in /v1 (OpenAI) or /api/v1 (OpenRouter)", path)
	}
	return nil
}

var (
	_ caddy.Provisioner           = (*Gatehouse)(nil)
	_ caddyhttp.MiddlewareHandler = (*Gatehouse)(nil)
)
