package admin

import (
	"context"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// publicRoutes has the paths below root at which operators have a route of callers, and the path of
// that route in the table.
var publicRoutes = map[string]string{
	"activity":                            "/api/v1/activity",
	"series":                              "/api/v1/activity/series",
	"limits":                              "/api/v1/limits",
	"providers":                           "/v1/providers",
	"keys":                                "/api/v1/keys",
	"keys/{hash}":                         "/api/v1/keys/{hash}",
	"keys/{hash}/rotate":                  "/api/v1/keys/{hash}/rotate",
	"sessions":                            "/v1/sessions",
	"sessions/{session}":                  "/v1/sessions/{id}",
	"workstations":                        "/v1/workstations",
	"workstations/{tenant}/{id}":          "/v1/workstations/{id}",
	"workstations/{tenant}/{id}/sessions": "/v1/workstations/{id}/sessions",
	"workstations/{tenant}/{id}/sessions/{session}": "/v1/workstations/{id}/sessions/{session}",
}

// servePublic serves a route of callers to an operator, who may name a key by the beginning of its
// hash.
func servePublic(path string) caddy.AdminHandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		active, err := running(r, r.Method)
		o := handlers.Operator{Tenant: r.PathValue("tenant"), Name: r.PathValue("id"), Item: r.PathValue("session")}
		switch hash := r.PathValue("hash"); {
		case err != nil:
		case hash != "":
			o.Name, err = findKey(active, r, hash)
		case o.Name == "":
			o.Name, o.Item = o.Item, ""
		}
		if err != nil {
			write(w, nil, err)
			return nil
		}
		o.Serve(active, path, w, r)
		return nil
	}
}

// findKey returns the whole hash of a key. Where no keys are made, the route says so.
func findKey(active *gateway.Gateway, r *http.Request, beginning string) (string, error) {
	made, ok := gateway.Offered[madeKeys](active)
	if ok && made.Configured() == nil {
		return made.Find(r.Context(), keys.EveryTenant(r.URL.Query().Get("tenant")), beginning)
	}
	return beginning, nil
}

// madeKeys are the keys that a gateway makes at run time.
type madeKeys interface {
	Configured() error
	Find(ctx context.Context, of keys.Tenants, beginning string) (hash string, err error)
}
