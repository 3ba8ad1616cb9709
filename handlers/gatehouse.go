// Package handlers has the HTTP modules of Gatehouse: one thin file for each endpoint.
//
// http.handlers.gatehouse serves the whole route table of all SDK families;
// http.handlers.gatehouse_<endpoint> serves one endpoint wherever a route puts it;
// http.handlers.gatehouse_auth only authenticates. Each asks the gatehouse app for its gateway. No
// endpoint runs for a caller who was not authenticated.
//
// The table has the rows of routes.go, and those that features register with [Register]; an
// endpoint is a function that gets a [Request].
package handlers

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

func init() {
	caddy.RegisterModule(Gatehouse{})
}

// Gatehouse serves the API of all SDK families: every path below /v1/, /api/v1/ and /v1beta/, and
// the MCP servers below /mcp/. It owns those paths, so an unknown one is a 404 and a wrong method a
// 405 in the family's own error shape. All other paths, and CORS preflights (which belong to the
// site's own configuration), go to the next handler. Where the site has none, /openapi.json
// describes the API, and a path that an SDK makes of a wrong base URL is a 404 too.
type Gatehouse struct {
	gateway Gateway
}

// CaddyModule returns the module's information.
func (Gatehouse) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse", New: func() caddy.Module { return new(Gatehouse) }}
}

// Provision finds the gateway of the gatehouse app.
func (h *Gatehouse) Provision(ctx caddy.Context) (err error) {
	h.gateway, err = caddykit.Part[Gateway](ctx)
	return err
}

func (h *Gatehouse) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if preflight(r) {
		return next.ServeHTTP(w, r)
	}
	// A wrong base URL can look like the path of a response, with another method.
	if found := matchRequest(r); found != nil && (found.operation(h.gateway, r) != nil || findWrong(wrongBelow, r.URL.Path) == nil) {
		return serve(h.gateway, w, r, found)
	}
	a, ours := api.Of(r.URL.Path)
	if !ours {
		return h.serveElsewhere(w, r, next)
	}
	if wrong := findWrong(wrongBelow, r.URL.Path); wrong != nil {
		return refuse(h.gateway, w, r, wrong.family(r), wrong.refusal(r))
	}
	return refuse(h.gateway, w, r, api.ByHeader(r.Header, a), unknownURL(r))
}

// preflight reports whether the request is a CORS preflight (Fetch standard, 3.3.2).
func preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

var (
	_ caddy.Provisioner           = (*Gatehouse)(nil)
	_ caddyhttp.MiddlewareHandler = (*Gatehouse)(nil)
)
