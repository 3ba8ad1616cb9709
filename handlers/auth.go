package handlers

import (
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

func init() {
	caddy.RegisterModule(Auth{})
}

// Auth authenticates the caller by gateway key and requires scopes; then the next handler runs. It
// protects routes that are not Gatehouse's own, for instance a reverse_proxy. It sets
// {http.auth.user.id} and removes the Authorization header, every value of another header that is a key,
// of this caller or not, and such a parameter "key" of the query: a backend could only use a gateway key to call the gateway with it. CORS
// preflights pass without X-Api-Key. A refusal has the family's error shape (401, 403, 503).
type Auth struct {
	// Scopes are those that the key must have, all of them. Default: none, any valid key passes.
	Scopes []string `json:"scopes,omitempty"`

	required keys.Scope
	gateway  Gateway
}

// CaddyModule returns the module's information.
func (Auth) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_auth", New: func() caddy.Module { return new(Auth) }}
}

// Provision checks the scopes and finds the gateway of the gatehouse app.
func (h *Auth) Provision(ctx caddy.Context) (err error) {
	if err := caddykit.CheckPlaceholders(h); err != nil {
		return err
	}
	for _, name := range h.Scopes {
		scope, err := keys.ParseScope(name)
		if err != nil {
			return fmt.Errorf("gatehouse_auth: %w", err)
		}
		h.required |= scope
	}
	h.gateway, err = caddykit.Part[Gateway](ctx)
	return err
}

func (h *Auth) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if preflight(r) && r.ContentLength == 0 {
		return next.ServeHTTP(w, harmless(h.gateway, r))
	}
	a, ok := api.Of(r.URL.Path)
	if !ok {
		a = api.OpenAI{}
	}
	a = api.ByHeader(r.Header, a)
	if err := h.gateway.Ready(r.Context()); err != nil {
		return refuse(h.gateway, w, r, a, apierror.From(err))
	}
	caller, err := authenticate(h.gateway, r, a, "")
	if err != nil {
		newRequest(h.gateway, w, r, a).unauthenticated(authRoute, err)
		return nil
	}
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Set("http.auth.user.id", caller.Name)
	}
	if caller.Has(h.required) {
		return next.ServeHTTP(w, withCaller(h.gateway, r, caller))
	}
	x := newRequest(h.gateway, w, r, a)
	if err := x.begin(caller, request.Route{Name: authRoute}); err != nil {
		x.writeError(apierror.From(err))
		return nil
	}
	defer x.Req.Finish()
	x.fail(apierror.From(x.Req.Require(h.required)))
	return nil
}

// harmless returns a preflight for the next handler: nobody has authenticated it, so a backend must
// not take it for a request of another method. Browsers send no key with it (Fetch standard, 4.8).
func harmless(g Gateway, r *http.Request) *http.Request {
	r = withoutKeys(g, r)
	r.Header.Del(apiKeyHeader)
	r.Header.Del(api.GoogleKeyHeader)
	for _, override := range methodOverrides {
		r.Header.Del(override)
	}
	return r
}

// methodOverrides are headers by which some backends take a request for one of another method.
var methodOverrides = []string{"X-Http-Method", "X-Http-Method-Override", "X-Method-Override"}

// authRoute is the route of guarded requests in records and metrics: their paths are not ours, and
// their number has no bound.
const authRoute = "gatehouse_auth"

var (
	_ caddy.Provisioner           = (*Auth)(nil)
	_ caddyhttp.MiddlewareHandler = (*Auth)(nil)
)
