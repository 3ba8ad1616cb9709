package caddymodule

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

func init() {
	caddy.RegisterModule(Admin{})
}

// Admin is the operator's API on Caddy's admin endpoint, for the running configuration. It sees all
// tenants, and does what the HTTP routes do:
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
//	GET    /gatehouse/why?id=                                what happened to a call or session
//	GET    /gatehouse/cluster                                the nodes of the cluster, what they share
//	GET    /gatehouse/health                                 whether it is ready, and the states of its parts
//	GET    /gatehouse/activity                               as GET /api/v1/activity, of all tenants
//	GET    /gatehouse/series                                 as GET /api/v1/activity/series, of all tenants
//	POST   /gatehouse/series/rebuild                         make the sums of series again
//	GET    /gatehouse/backup                                 a copy of the database
//	GET, POST          /gatehouse/keys                       keys made at run time, as at /api/v1/keys
//	GET, PATCH, DELETE /gatehouse/keys/{hash}
//	POST   /gatehouse/keys/{hash}/rotate                     {"grace"}
type Admin struct{}

// CaddyModule returns the module's information.
func (Admin) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "admin.api.gatehouse", New: func() caddy.Module { return new(Admin) }}
}

const adminPath = "/gatehouse/workstations"

// Routes are what Caddy adds to its admin endpoint.
func (a Admin) Routes() []caddy.AdminRoute {
	routes := http.NewServeMux()
	for pattern, serve := range map[string]adminFunc{
		"GET " + adminPath:                                          a.list,
		"PUT " + adminPath + "/{tenant}/{id}":                       a.register,
		"DELETE " + adminPath + "/{tenant}/{id}":                    a.release,
		"POST " + adminPath + "/{tenant}/{id}/restore":              a.restore,
		"GET " + adminPath + "/{tenant}/{id}/sessions":              a.sessions,
		"DELETE " + adminPath + "/{tenant}/{id}/sessions/{session}": a.end,
		"GET " + sessionsPath:                                       a.openSessions,
		"DELETE " + sessionsPath + "/{session}":                     a.endOpenSession,
	} {
		routes.Handle(pattern, serve)
	}
	handler := caddy.AdminHandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		routes.ServeHTTP(w, r)
		return nil
	})
	return append(keyRoutes(), []caddy.AdminRoute{
		{Pattern: budgetsPath, Handler: caddy.AdminHandlerFunc(serveBudgets)},
		{Pattern: healthPath, Handler: caddy.AdminHandlerFunc(serveHealth)},
		{Pattern: clusterPath, Handler: caddy.AdminHandlerFunc(serveCluster)},
		{Pattern: providersPath, Handler: caddy.AdminHandlerFunc(serveProviders)},
		{Pattern: backupPath, Handler: caddy.AdminHandlerFunc(serveBackup)},
		{Pattern: limitsPath, Handler: caddy.AdminHandlerFunc(serveLimits)},
		{Pattern: sessionsPath, Handler: handler}, {Pattern: sessionsPath + "/", Handler: handler},
		{Pattern: whyPath, Handler: caddy.AdminHandlerFunc(serveWhy)},
		{Pattern: activityPath, Handler: caddy.AdminHandlerFunc(serveActivity)},
		{Pattern: seriesPath, Handler: caddy.AdminHandlerFunc(serveSeries)},
		{Pattern: rebuildPath, Handler: caddy.AdminHandlerFunc(serveRebuild)},
		{Pattern: adminPath, Handler: handler}, {Pattern: adminPath + "/", Handler: handler},
	}...)
}

// adminFunc returns the answer; nil becomes 204.
type adminFunc func(service *desktop.Service, r *http.Request) (any, error)

func (serve adminFunc) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	service, err := activeWorkstations()
	var answer any
	if err == nil {
		answer, err = serve(service, r)
	}
	writeAdmin(w, answer, err)
}

// writeAdmin writes the answer to an operator's request.
func writeAdmin(w http.ResponseWriter, answer any, err error) {
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

// adminQuery reads the query of an operator's request, which may have these parameters only: another
// one may be a filter that is spelt wrongly.
func adminQuery(r *http.Request, known ...string) (url.Values, error) {
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

// activeWorkstations returns the service of the current configuration. It is called for each
// request, because this module is older than the apps of its configuration.
func activeWorkstations() (*desktop.Service, error) {
	active, err := activeGateway()
	if err != nil {
		return nil, err
	}
	service := active.VNC().Workstations()
	if service == nil {
		return nil, apierror.New(apierror.NotFound, "the running configuration has no workstations: the option vnc is missing")
	}
	return service, service.Ready()
}

func activeGateway() (*gateway.Gateway, error) {
	module, err := caddy.ActiveContext().AppIfConfigured(caddykit.AppName)
	if err != nil {
		return nil, apierror.New(apierror.NotFound, "the running configuration has no global option %s", caddykit.AppName)
	}
	return module.(caddykit.App).Gateway(), nil
}

func (Admin) list(service *desktop.Service, _ *http.Request) (any, error) {
	return service.List(keys.EveryTenant("").Has), nil
}

// maxRegistration bounds the body of a registration, in bytes.
const maxRegistration = 64 << 10

func (Admin) register(service *desktop.Service, r *http.Request) (any, error) {
	var registration desktop.Registration
	decoder := json.NewDecoder(io.LimitReader(r.Body, maxRegistration))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&registration); err != nil && !errors.Is(err, io.EOF) {
		return nil, apierror.New(apierror.InvalidJSON, "the registration is not valid JSON: %v", err)
	}
	view, _, err := service.Register(r.Context(), r.PathValue("tenant"), r.PathValue("id"), registration)
	return view, err
}

func (Admin) release(service *desktop.Service, r *http.Request) (any, error) {
	return nil, service.Release(r.Context(), r.PathValue("tenant"), r.PathValue("id"))
}

func (Admin) restore(service *desktop.Service, r *http.Request) (any, error) {
	return nil, service.Restore(r.Context(), r.PathValue("tenant"), r.PathValue("id"))
}

func (Admin) sessions(service *desktop.Service, r *http.Request) (any, error) {
	return service.Sessions(r.PathValue("tenant"), r.PathValue("id"))
}

func (Admin) end(service *desktop.Service, r *http.Request) (any, error) {
	return nil, service.EndSession(r.PathValue("tenant"), r.PathValue("id"), r.PathValue("session"))
}

var _ caddy.AdminRouter = Admin{}
