package admin

import (
	"io"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// workstationRoutes do for workstations what the HTTP routes do.
func workstationRoutes() *http.ServeMux {
	const one = Root + "workstations/{tenant}/{id}"
	return desktopRoutes(map[string]desktopFunc{
		"GET " + Root + "workstations":          listWorkstations,
		"PUT " + one:                            register,
		"DELETE " + one:                         release,
		"POST " + one + "/restore":              restore,
		"GET " + one + "/sessions":              listSessions,
		"DELETE " + one + "/sessions/{session}": endSession,
	})
}

func sessionRoutes() *http.ServeMux {
	return desktopRoutes(map[string]desktopFunc{
		"GET " + Root + "sessions":              openSessions,
		"DELETE " + Root + "sessions/{session}": endOpenSession,
	})
}

func desktopRoutes(routes map[string]desktopFunc) *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, serve := range routes {
		mux.Handle(pattern, serve)
	}
	return mux
}

// desktopFunc returns the answer; nil becomes 204.
type desktopFunc func(service *desktop.Service, r *http.Request) (any, error)

func (serve desktopFunc) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	service, err := runningWorkstations(r)
	var answer any
	if err == nil {
		answer, err = serve(service, r)
	}
	Write(w, answer, err)
}

func runningWorkstations(r *http.Request) (*desktop.Service, error) {
	active, err := Running(r, r.Method)
	if err != nil {
		return nil, err
	}
	service := gateway.VNCOf(active).Workstations()
	if service == nil {
		return nil, apierror.New(apierror.NotFound, "the running configuration has no workstations: the option vnc is missing")
	}
	return service, service.Ready()
}

func listWorkstations(service *desktop.Service, _ *http.Request) (any, error) {
	return service.List(keys.EveryTenant("").Has), nil
}

// maxRegistration bounds the body of a registration, in bytes.
const maxRegistration = 64 << 10

func register(service *desktop.Service, r *http.Request) (any, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRegistration))
	if err != nil {
		return nil, err
	}
	registration, err := desktop.ParseRegistration(body)
	if err != nil {
		return nil, err
	}
	view, _, err := service.Register(r.Context(), r.PathValue("tenant"), r.PathValue("id"), registration)
	return view, err
}

func release(service *desktop.Service, r *http.Request) (any, error) {
	return nil, service.Release(r.Context(), r.PathValue("tenant"), r.PathValue("id"))
}

func restore(service *desktop.Service, r *http.Request) (any, error) {
	return nil, service.Restore(r.Context(), r.PathValue("tenant"), r.PathValue("id"))
}

func listSessions(service *desktop.Service, r *http.Request) (any, error) {
	return service.Sessions(r.PathValue("tenant"), r.PathValue("id"))
}

func endSession(service *desktop.Service, r *http.Request) (any, error) {
	return nil, service.EndSession(r.PathValue("tenant"), r.PathValue("id"), r.PathValue("session"))
}

// openSessions lists the open sessions of all tenants, or of those that the query names.
func openSessions(service *desktop.Service, r *http.Request) (any, error) {
	q, err := query(r, "key", "tenant", "workstation")
	if err != nil {
		return nil, err
	}
	tenants, name, key := keys.EveryTenant(q.Get("tenant")), q.Get("workstation"), q.Get("key")
	return service.OpenSessions(func(s desktop.SessionView) bool {
		return tenants.Has(s.Tenant) && (name == "" || s.Workstation == name) && (key == "" || s.Key == key)
	}), nil
}

func endOpenSession(service *desktop.Service, r *http.Request) (any, error) {
	_, err := service.EndOpenSession(r.PathValue("session"), "", func(desktop.SessionView) bool { return true })
	return nil, err
}
