// Package handlers has the HTTP modules of Gatehouse: one thin file for each endpoint.
//
// http.handlers.gatehouse serves the whole route table of both SDK families;
// http.handlers.gatehouse_<endpoint> serves one endpoint wherever a route puts
// it; http.handlers.gatehouse_auth only authenticates. Each asks the gatehouse
// app for its gateway, and none ever runs an endpoint for a caller that it did
// not authenticate.
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

// Gatehouse serves the API of both SDK families: every path below /v1/ and
// /api/v1/. It owns those paths, so an unknown one is a 404 and a wrong method a
// 405 in the family's own error shape. All other paths, and CORS preflights
// (which belong to the site's own configuration), go to the next handler.
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
	if found := matchPath(r.URL.Path); found != nil {
		return serve(h.gateway, w, r, found)
	}
	a, ours := api.Of(r.URL.Path)
	if !ours {
		if hint := forgottenPrefix(r.URL.Path); hint != nil {
			return refuse(h.gateway, w, r, api.OpenAI{}, hint)
		}
		return next.ServeHTTP(w, r)
	}
	return refuse(h.gateway, w, r, a, apierror.New(apierror.UnknownURL, "unknown URL (%.10s %.200s)", r.Method, r.URL.Path))
}

// preflight recognises a CORS preflight request (Fetch standard, 3.3.2).
func preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// forgottenPrefix helps whoever gave an SDK the bare origin as base URL: the
// next handler's answer would only puzzle.
func forgottenPrefix(path string) *apierror.Error {
	switch strings.TrimSuffix(path, "/") {
	case "/chat/completions", "/responses", "/models":
		return apierror.New(apierror.UnknownURL, "unknown URL %s: the SDK's base URL must end in /v1 (OpenAI) or /api/v1 (OpenRouter)", path)
	}
	return nil
}

var (
	_ caddy.Provisioner           = (*Gatehouse)(nil)
	_ caddyhttp.MiddlewareHandler = (*Gatehouse)(nil)
)
