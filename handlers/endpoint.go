package handlers

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/fault"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

func init() {
	caddy.RegisterModule(Chat{})
	caddy.RegisterModule(Responses{})
	caddy.RegisterModule(Models{})
	caddy.RegisterModule(Activity{})
	caddy.RegisterModule(Generation{})
	caddy.RegisterModule(Key{})
	caddy.RegisterModule(VNCURL{})
	caddy.RegisterModule(Workstations{})
}

// single is one endpoint at a place that the site's routes choose. Without a
// caller put there by gatehouse_auth it authenticates by itself.
type single struct {
	// Family is the SDK family whose shapes are spoken: "openai" or
	// "openrouter". Default: openrouter where the path contains /api/v1/,
	// else openai.
	Family string `json:"family,omitempty"`

	endpoint *endpoint
	family   family // nil = by the path
	gateway  *gateway.Gateway
}

func (s *single) provision(ctx caddy.Context, e *endpoint) (err error) {
	s.endpoint = e
	if s.Family != "" {
		if s.family, err = parseFamily(s.Family); err != nil {
			return err
		}
	}
	s.gateway, err = caddykit.Gateway(ctx)
	return err
}

func (s *single) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if preflight(r) {
		return next.ServeHTTP(w, r)
	}
	f := s.family
	if f == nil {
		f = openaiFamily{}
		if strings.Contains(r.URL.Path, openrouterPrefix) {
			f = openrouterFamily{}
		}
	}
	p := &place{family: f, endpoints: []*endpoint{s.endpoint}}
	switch s.endpoint {
	case modelsEndpoint:
		p.name = modelInPath(r.URL.Path)
	case vncURLEndpoint, listEndpoint:
		if p = s.workstationInPath(r.URL.Path); p == nil {
			return refuse(s.gateway, w, r, f, fault.New(fault.UnknownURL, "unknown URL (%.10s %.200s)", r.Method, r.URL.Path))
		}
		p.family = f
	}
	return serve(s.gateway, w, r, p)
}

// workstationInPath is what the table has for the rest of the path from
// ".../workstations" on, if it is of this module.
func (s *single) workstationInPath(path string) *place {
	for rest, found := path, true; found; {
		if _, rest, found = strings.Cut(rest, "/workstations"); !found {
			break
		}
		if p := find("/v1/workstations" + rest); p != nil && p.endpoints[0].name == s.endpoint.name {
			return &place{endpoints: p.endpoints, name: p.name, item: p.item}
		}
	}
	return nil
}

// modelInPath is the model's name behind ".../models/" or ".../model/".
func modelInPath(path string) string {
	for _, mark := range []string{"/models/", "/model/"} {
		if _, name, found := strings.Cut(path, mark); found {
			return strings.TrimSuffix(name, "/")
		}
	}
	return ""
}

// Chat serves POST chat completions (scope chat:write).
type Chat struct{ single }

// Responses serves POST responses (scope chat:write).
type Responses struct{ single }

// Models serves the list of callable models, and one model where a name
// follows "/models/" or "/model/" in the path (scope models:read).
type Models struct{ single }

// Activity serves the tenant's calls (scope activity:read).
type Activity struct{ single }

// Generation serves one call by its id (scope activity:read).
type Generation struct{ single }

// Key serves what the presented key is and may do (any valid key).
type Key struct{ single }

// VNCURL issues VNC addresses at ".../workstations/{id}/vnc" (POST, scope
// workstations:connect).
type VNCURL struct{ single }

// Workstations lists, registers and releases workstations and ends their
// sessions, at ".../workstations" and below (scope workstations:manage; the
// lists also with workstations:connect).
type Workstations struct{ single }

// CaddyModule returns the module's information.
func (Chat) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_chat", New: func() caddy.Module { return new(Chat) }}
}

// CaddyModule returns the module's information.
func (Responses) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_responses", New: func() caddy.Module { return new(Responses) }}
}

// CaddyModule returns the module's information.
func (Models) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_models", New: func() caddy.Module { return new(Models) }}
}

// CaddyModule returns the module's information.
func (Activity) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_activity", New: func() caddy.Module { return new(Activity) }}
}

// CaddyModule returns the module's information.
func (Generation) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_generation", New: func() caddy.Module { return new(Generation) }}
}

// CaddyModule returns the module's information.
func (Key) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_key", New: func() caddy.Module { return new(Key) }}
}

// CaddyModule returns the module's information.
func (VNCURL) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_vnc_url", New: func() caddy.Module { return new(VNCURL) }}
}

// CaddyModule returns the module's information.
func (Workstations) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_workstations", New: func() caddy.Module { return new(Workstations) }}
}

// Provision finds the gateway of the gatehouse app.
func (h *Chat) Provision(ctx caddy.Context) error { return h.provision(ctx, chatEndpoint) }

// Provision finds the gateway of the gatehouse app.
func (h *Responses) Provision(ctx caddy.Context) error { return h.provision(ctx, responsesEndpoint) }

// Provision finds the gateway of the gatehouse app.
func (h *Models) Provision(ctx caddy.Context) error { return h.provision(ctx, modelsEndpoint) }

// Provision finds the gateway of the gatehouse app.
func (h *Activity) Provision(ctx caddy.Context) error { return h.provision(ctx, activityEndpoint) }

// Provision finds the gateway of the gatehouse app.
func (h *Generation) Provision(ctx caddy.Context) error { return h.provision(ctx, generationEndpoint) }

// Provision finds the gateway of the gatehouse app.
func (h *Key) Provision(ctx caddy.Context) error { return h.provision(ctx, keyEndpoint) }

// Provision finds the gateway of the gatehouse app.
func (h *VNCURL) Provision(ctx caddy.Context) error { return h.provision(ctx, vncURLEndpoint) }

// Provision finds the gateway of the gatehouse app.
func (h *Workstations) Provision(ctx caddy.Context) error { return h.provision(ctx, listEndpoint) }

func parseFamily(name string) (family, error) {
	switch name {
	case openaiFamily{}.name():
		return openaiFamily{}, nil
	case openrouterFamily{}.name():
		return openrouterFamily{}, nil
	}
	return nil, fmt.Errorf("unknown family %q; known families: openai, openrouter", name)
}

var (
	_ caddyhttp.MiddlewareHandler = (*Chat)(nil)
	_ caddyhttp.MiddlewareHandler = (*Responses)(nil)
	_ caddyhttp.MiddlewareHandler = (*Models)(nil)
	_ caddyhttp.MiddlewareHandler = (*Activity)(nil)
	_ caddyhttp.MiddlewareHandler = (*Generation)(nil)
	_ caddyhttp.MiddlewareHandler = (*Key)(nil)
	_ caddyhttp.MiddlewareHandler = (*VNCURL)(nil)
	_ caddyhttp.MiddlewareHandler = (*Workstations)(nil)
)
