package handlers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// Each endpoint of the table is a module and a directive of its own, too.
func init() {
	for _, name := range endpointNames() {
		caddy.RegisterModule(Endpoint{name: name})
		register("gatehouse_"+name, "respond", func() directive { return &Endpoint{name: name} })
	}
}

// Endpoint serves one endpoint of the route table on the paths that the site's
// routes choose, as http.handlers.gatehouse_<name>. The scope of the endpoint
// is needed as in the table. Without a caller put there by gatehouse_auth it
// authenticates by itself.
//
// An endpoint with names in its path finds them behind the part of the path
// that the table knows: gatehouse_models lists the models, and shows one where
// its name follows "/models/" or "/model/"; gatehouse_vnc_url needs
// "/workstations/{id}/vnc".
type Endpoint struct {
	// Family is the SDK family whose shapes are spoken: "openai" or
	// "openrouter". Default: openrouter where the path contains /api/v1/,
	// else openai.
	Family string `json:"family,omitempty"`

	name    string  // of the endpoint
	api     api.API // nil: by the path
	gateway *gateway.Gateway
}

// CaddyModule returns the module's information.
func (e Endpoint) CaddyModule() caddy.ModuleInfo {
	name := e.name
	return caddy.ModuleInfo{
		ID:  caddy.ModuleID("http.handlers.gatehouse_" + name),
		New: func() caddy.Module { return &Endpoint{name: name} },
	}
}

// Provision finds the gateway of the gatehouse app.
func (e *Endpoint) Provision(ctx caddy.Context) (err error) {
	if e.Family != "" {
		if e.api, err = api.Parse(e.Family); err != nil {
			return err
		}
	}
	e.gateway, err = caddykit.Gateway(ctx)
	return err
}

func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if preflight(r) {
		return next.ServeHTTP(w, r)
	}
	a := e.api
	if a == nil {
		a = api.OpenAI{}
		if strings.Contains(r.URL.Path, api.OpenRouterPrefix) {
			a = api.OpenRouter{}
		}
	}
	m := matchEndpoint(e.name, r.URL.Path)
	if m == nil {
		return refuse(e.gateway, w, r, a, apierror.New(apierror.UnknownURL, "unknown URL (%.10s %.200s)", r.Method, r.URL.Path))
	}
	m.api = a
	return serve(e.gateway, w, r, m)
}

// endpointNames returns the names in the table, each once.
func endpointNames() (names []string) {
	for _, r := range routes {
		if !slices.Contains(names, r.endpoint.name) {
			names = append(names, r.endpoint.name)
		}
	}
	return names
}

// matchEndpoint returns what the table has for the end of a path at the endpoint of this name; the path
// may begin with anything. If the table's paths hold no name that is needed, any path matches. It
// returns nil for an unknown path.
func matchEndpoint(name, path string) *match {
	for rest := path; rest != ""; rest = nextSegment(rest) {
		for _, prefix := range []string{api.OpenAIPrefix, api.OpenRouterPrefix} {
			if p := matchPath(prefix + rest); p != nil && p.endpoints[0].name == name {
				return &match{endpoints: p.endpoints, name: p.name, item: p.item}
			}
		}
	}
	var plain *endpoint // the one endpoint of a path without names
	for _, r := range routes {
		switch {
		case r.endpoint.name != name:
		case plain != nil && r.endpoint != plain:
			return nil
		case !strings.Contains(r.path, "{"):
			plain = r.endpoint
		}
	}
	if plain == nil {
		return nil
	}
	return &match{endpoints: []*endpoint{plain}}
}

// nextSegment returns the path behind its first segment.
func nextSegment(path string) string {
	_, rest, _ := strings.Cut(path, "/")
	return rest
}

var (
	_ caddy.Provisioner           = (*Endpoint)(nil)
	_ caddyhttp.MiddlewareHandler = (*Endpoint)(nil)
)
