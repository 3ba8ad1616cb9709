package handlers

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// Endpoint serves one endpoint of the route table on the paths that the site's routes choose, as
// http.handlers.gatehouse_<name>. The key needs the scope of the endpoint in the table. A request
// that gatehouse_auth has not authenticated is authenticated here.
//
// An endpoint with names in its path finds them at the end of the path, after the part that the
// table has: gatehouse_models lists the models, and shows one if its name follows "/models/" or
// "/model/"; gatehouse_vnc_url needs "/workstations/{id}/vnc".
type Endpoint struct {
	// Family is the SDK family in whose shapes it answers: "openai", "openrouter", "anthropic", "google" or
	// "mcp". Default: anthropic for messages and count_tokens, google for gemini, which has what only
	// Google's API has, and mcp for mcp; anthropic or google for models if the request has a header of theirs; else openrouter if the path contains /api/v1/,
	// otherwise openai.
	Family string `json:"family,omitempty"`

	name    string  // of the endpoint in the table
	api     api.API // nil: by the path
	gateway Gateway
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
	if err := caddykit.CheckPlaceholders(e); err != nil {
		return err
	}
	if e.Family != "" {
		if e.api, err = api.Parse(e.Family); err != nil {
			return err
		}
		if err := checkFamily(e.name, e.api); err != nil {
			return err
		}
	}
	e.gateway, err = caddykit.Part[Gateway](ctx)
	return err
}

func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if preflight(r) {
		return next.ServeHTTP(w, r)
	}
	a := e.api
	if a == nil {
		a = defaultFamily(e.name, r)
	}
	m := matchEndpoint(e.name, r.URL.Path)
	if m == nil {
		return refuse(e.gateway, w, r, a, unknownURL(r))
	}
	m.api = a
	return serve(e.gateway, w, r, m)
}

// defaultFamily returns the family of an endpoint whose configuration names none.
func defaultFamily(name string, r *http.Request) api.API {
	var byPath api.API = api.OpenAI{}
	if strings.Contains(r.URL.Path, api.OpenRouterPrefix) {
		byPath = api.OpenRouter{}
	}
	if owner := theTable().owners[name]; owner != nil {
		return owner
	}
	if name == modelsEndpoint.Name {
		return api.ByHeader(r.Header, byPath)
	}
	return byPath
}

// checkFamily refuses a family that does not have the endpoint, or that cannot show its answers.
func checkFamily(name string, a api.API) error {
	if name == modelsEndpoint.Name {
		return nil
	}
	owner := theTable().owners[name]
	if owner == a {
		return nil
	}
	if owner == nil && (a == api.API(api.OpenAI{}) || a == api.API(api.OpenRouter{})) {
		return nil
	}
	return fmt.Errorf("gatehouse_%s: the family %s does not have it", name, a.Name())
}

// matchEndpoint returns what the table has for the end of a path, if that is an endpoint of this
// name; the path may begin with anything. An endpoint that is the only one of its name, and needs
// no name in its path, matches every path. It returns nil for an unknown path. The match has no
// API.
func matchEndpoint(name, path string) *match {
	for rest := path; rest != ""; rest = afterSegment(rest) {
		for _, prefix := range []string{api.OpenAIPrefix, api.OpenRouterPrefix, api.GooglePrefix, api.MCPPrefix} {
			if m := matchPath(prefix + rest); m != nil && m.operations[0].Name == name {
				return &match{operations: m.operations, name: m.name, item: m.item}
			}
		}
	}
	var only *Operation
	for _, r := range registered {
		if r.Operation.Name != name {
			continue
		}
		if strings.Contains(r.Path, "{") || only != nil && r.Operation != only {
			return nil
		}
		only = r.Operation
	}
	return &match{operations: []*Operation{only}}
}

// afterSegment returns the path after its first segment.
func afterSegment(path string) string {
	_, rest, _ := strings.Cut(path, "/")
	return rest
}

var (
	_ caddy.Provisioner           = (*Endpoint)(nil)
	_ caddyhttp.MiddlewareHandler = (*Endpoint)(nil)
)
