package caddymodule

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

func init() {
	caddy.RegisterModule(Admin{})
}

// Admin is the operator's view of the running configuration, on Caddy's admin
// endpoint. It knows all tenants, and does what the HTTP routes do:
//
//	GET    /gatehouse/workstations
//	PUT    /gatehouse/workstations/{tenant}/{id}             {"address", "credential"}
//	DELETE /gatehouse/workstations/{tenant}/{id}             release
//	POST   /gatehouse/workstations/{tenant}/{id}/restore     undo a release
//	GET    /gatehouse/workstations/{tenant}/{id}/sessions
//	DELETE /gatehouse/workstations/{tenant}/{id}/sessions/{session}
//	GET    /gatehouse/budgets                                what is spent and reserved of every budget
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
	} {
		routes.Handle(pattern, serve)
	}
	handler := caddy.AdminHandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		routes.ServeHTTP(w, r)
		return nil
	})
	return []caddy.AdminRoute{{Pattern: budgetsPath, Handler: caddy.AdminHandlerFunc(serveBudgets)}, {Pattern: adminPath, Handler: handler}, {Pattern: adminPath + "/", Handler: handler}}
}

// adminFunc answers with what it returns, nil with 204.
type adminFunc func(desk *workstation.Service, r *http.Request) (any, error)

func (serve adminFunc) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	desk, err := activeWorkstations()
	var answer any
	if err == nil {
		answer, err = serve(desk, r)
	}
	writeAdmin(w, answer, err)
}

// writeAdmin answers a request of the operator's.
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
	_ = json.NewEncoder(w).Encode(answer) // the operator left
}

// activeWorkstations is the service of the current configuration, asked for with
// each request: this module is older than the apps of its configuration.
func activeWorkstations() (*workstation.Service, error) {
	active, err := activeGateway()
	if err != nil {
		return nil, err
	}
	desk := active.VNC().Workstations()
	if desk == nil {
		return nil, apierror.New(apierror.NotFound, "the running configuration has no workstations: the option vnc is missing")
	}
	return desk, desk.Ready()
}

func activeGateway() (*gateway.Gateway, error) {
	module, err := caddy.ActiveContext().AppIfConfigured(caddykit.AppName)
	if err != nil {
		return nil, apierror.New(apierror.NotFound, "the running configuration has no global option %s", caddykit.AppName)
	}
	return module.(caddykit.App).Gateway(), nil
}

func (Admin) list(desk *workstation.Service, _ *http.Request) (any, error) {
	return desk.ListAll(), nil
}

// maxRegistration bounds the body of a registration, in bytes.
const maxRegistration = 64 << 10

func (Admin) register(desk *workstation.Service, r *http.Request) (any, error) {
	var registration workstation.Registration
	decoder := json.NewDecoder(io.LimitReader(r.Body, maxRegistration))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&registration); err != nil && !errors.Is(err, io.EOF) {
		return nil, apierror.New(apierror.InvalidJSON, "the registration is not acceptable JSON: %v", err)
	}
	view, _, err := desk.Register(r.Context(), r.PathValue("tenant"), r.PathValue("id"), registration)
	return view, err
}

func (Admin) release(desk *workstation.Service, r *http.Request) (any, error) {
	return nil, desk.Release(r.Context(), r.PathValue("tenant"), r.PathValue("id"))
}

func (Admin) restore(desk *workstation.Service, r *http.Request) (any, error) {
	return nil, desk.Restore(r.Context(), r.PathValue("tenant"), r.PathValue("id"))
}

func (Admin) sessions(desk *workstation.Service, r *http.Request) (any, error) {
	return desk.Sessions(r.PathValue("tenant"), r.PathValue("id"))
}

func (Admin) end(desk *workstation.Service, r *http.Request) (any, error) {
	return nil, desk.EndSession(r.PathValue("tenant"), r.PathValue("id"), r.PathValue("session"))
}

var _ caddy.AdminRouter = Admin{}
