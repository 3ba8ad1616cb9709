// Package admin is the operator's API on Caddy's admin endpoint. Its paths and what they take stand
// at [API].
package admin

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

func init() {
	caddy.RegisterModule(API{})
}

// API is the operator's API on Caddy's admin endpoint, for the running configuration. It sees all
// tenants. What callers have too is served by their routes, as the key "operator": see publicRoutes.
//
//	GET    /gatehouse/workstations
//	PUT    /gatehouse/workstations/{tenant}/{id}             {"address", "credential"}
//	DELETE /gatehouse/workstations/{tenant}/{id}             release
//	POST   /gatehouse/workstations/{tenant}/{id}/restore     undo a release
//	GET    /gatehouse/workstations/{tenant}/{id}/sessions
//	DELETE /gatehouse/workstations/{tenant}/{id}/sessions/{session}
//	GET    /gatehouse/sessions                               ?tenant, workstation, key
//	DELETE /gatehouse/sessions/{session}
//	GET    /gatehouse/limits                                 as GET /api/v1/limits
//	GET    /gatehouse/budgets                                what is spent and reserved of every budget
//	GET    /gatehouse/providers                              the providers, and the health of their models
//	GET    /gatehouse/mcp                                    the MCP servers, and their health
//	GET    /gatehouse/mcp?server=                            the tools of one: the gateway asks it
//	GET    /gatehouse/why?id=                                what happened to a call or session
//	GET    /gatehouse/cluster                                the nodes of the cluster, what they share
//	GET, DELETE        /gatehouse/drain                      whether the process exits, and waits for desktops; end them
//	GET    /gatehouse/health                                 whether it is ready, and the states of its parts
//	GET    /gatehouse/activity                               as GET /api/v1/activity, of all tenants
//	GET    /gatehouse/series                                 as GET /api/v1/activity/series, of all tenants
//	POST   /gatehouse/series/rebuild                         make the sums of series again
//	GET    /gatehouse/backup                                 a copy of the database
//	GET, POST          /gatehouse/keys                       keys made at run time, as at /api/v1/keys; GET ?source=configuration
//	GET, PATCH, DELETE /gatehouse/keys/{hash}
//	POST   /gatehouse/keys/{hash}/rotate                     {"grace"}
//	GET    /gatehouse/sign-ins                               people, and who is blocked
//	DELETE /gatehouse/sign-ins/{user}                        end those of a person
//	PUT, DELETE        /gatehouse/sign-ins/{user}/block      keep out; let in again
type API struct{}

// CaddyModule returns the module's information.
func (API) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "admin.api.gatehouse", New: func() caddy.Module { return new(API) }}
}

// Routes are what Caddy adds to its admin endpoint.
func (API) Routes() []caddy.AdminRoute {
	routes := map[string]caddy.AdminHandler{
		"backup":                             caddy.AdminHandlerFunc(serveBackup),
		"drain":                              caddy.AdminHandlerFunc(serveDrain),
		"series/rebuild":                     method{http.MethodPost, rebuildSeries},
		"workstations/{tenant}/{id}/restore": method{http.MethodPost, restore},
	}
	for name, answer := range map[string]answerFunc{
		"budgets": listBudgets, "health": readHealth, "cluster": readCluster, "mcp": listServers, "why": explain,
	} {
		routes[name] = method{http.MethodGet, answer}
	}
	for name, methods := range signInRoutes {
		routes[name] = methods
	}
	for name, path := range publicRoutes {
		routes[name] = servePublic(path)
	}
	all := make([]caddy.AdminRoute, 0, len(routes))
	for name, handler := range routes {
		all = append(all, caddy.AdminRoute{Pattern: root + name, Handler: handler})
	}
	return all
}

// root is how all paths begin.
const root = "/gatehouse/"

// answerFunc returns the answer of the running configuration, which becomes JSON.
type answerFunc func(active *gateway.Gateway, r *http.Request) (any, error)

// method is a route that takes one method only.
type method struct {
	name   string
	answer answerFunc
}

// ServeHTTP answers errors too, so it returns none.
func (m method) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	active, err := running(r, m.name)
	var answer any
	if err == nil {
		answer, err = m.answer(active, r)
	}
	write(w, answer, err)
	return nil
}

// running returns the gateway of the running configuration, if the request has the method. It is
// called for each request, because this module is older than the apps of its configuration.
func running(r *http.Request, method string) (*gateway.Gateway, error) {
	if r.Method != method {
		return nil, apierror.New(apierror.MethodNotAllowed, "use %s", method)
	}
	active, err := caddykit.Running[*gateway.Gateway]()
	if err != nil {
		return nil, apierror.New(apierror.NotFound, "the running configuration has no global option %s", caddykit.AppName)
	}
	return active, nil
}

// write writes the answer to an operator's request; nil becomes 204.
func write(w http.ResponseWriter, answer any, err error) {
	status := http.StatusOK
	switch {
	case err != nil:
		refusal := apierror.From(err)
		status, answer = refusal.HTTPStatus(), map[string]string{"error": refusal.Message, "code": string(refusal.Code)}
	case answer == nil:
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // the operator has disconnected
}

// query reads the query of an operator's request, which may have these parameters only: another
// one may be a filter that is spelt wrongly.
func query(r *http.Request, known ...string) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, apierror.New(apierror.InvalidValue, "the query of the URL is malformed: %v", err)
	}
	for name := range q {
		if !slices.Contains(known, name) {
			return nil, apierror.New(apierror.UnsupportedParameter, "unknown parameter %q; this route takes %s", name, strings.Join(known, ", "))
		}
	}
	return q, nil
}

var _ caddy.AdminRouter = API{}
