package handlers

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// listOf is the shape of every list below /v1.
func listOf(data any) any {
	return struct {
		Object string `json:"object"`
		Data   any    `json:"data"`
	}{"list", data}
}

// serveWorkstations lists the workstations of the tenant, or of all tenants for a key that sees them.
func serveWorkstations(x *apiRequest) error {
	q, err := x.strictQuery("tenant")
	if err != nil {
		return err
	}
	service, manages, err := x.viewWorkstations()
	if err != nil {
		return err
	}
	views := service.List(x.req.Caller.Tenants(q.Get("tenant")).Has)
	for i := range views {
		if !manages {
			views[i].Address = ""
		}
	}
	return x.reply(http.StatusOK, listOf(views))
}

// serveWorkstation shows one workstation.
func serveWorkstation(x *apiRequest) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	service, manages, err := x.viewWorkstations()
	if err != nil {
		return err
	}
	view, err := service.Get(x.req.Caller.Tenant, x.name)
	if err != nil {
		return err
	}
	if !manages {
		view.Address = ""
	}
	return x.reply(http.StatusOK, view)
}

// viewWorkstations returns the service for a key that has one of the two scopes. Addresses are only
// for keys that may manage workstations.
func (x *apiRequest) viewWorkstations() (service *desktop.Service, manages bool, err error) {
	if service, err = x.workstations(); err != nil {
		return nil, false, err
	}
	if x.req.Caller.Has(keys.WorkstationsManage) {
		return service, true, nil
	}
	return service, false, x.req.Require(keys.WorkstationsConnect)
}

// registerWorkstation puts a workstation in service: 201 if it is new, else 200.
func registerWorkstation(x *apiRequest) error {
	service, err := x.workstations()
	if err != nil {
		return err
	}
	var r desktop.Registration
	err = x.readOptions(func(name string, value []byte) (bool, error) {
		switch name {
		case "address":
			return option(name, value, &r.Address, "a string")
		case "credential":
			return option(name, value, &r.Credential, "a string")
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	view, created, err := service.Register(x.r.Context(), x.req.Caller.Tenant, x.name, r)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return x.reply(status, view)
}

// releaseWorkstation ends all tokens and sessions of a workstation: 204 once that is durable, also
// if it is repeated.
func releaseWorkstation(x *apiRequest) error {
	service, err := x.workstations()
	if err != nil {
		return err
	}
	if err := service.ReleaseBy(x.r.Context(), x.req.Caller.Tenant, x.name, x.req.Caller.Name); err != nil {
		return err
	}
	return x.noContent()
}

// refreshWorkstation has the source of a workstation asked again.
func refreshWorkstation(x *apiRequest) error {
	service, err := x.workstations()
	if err != nil {
		return err
	}
	if err := service.Refresh(x.r.Context(), x.req.Caller.Tenant, x.name); err != nil {
		return err
	}
	return x.noContent()
}

// serveSessions lists the open sessions of a workstation.
func serveSessions(x *apiRequest) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	service, err := x.workstations()
	if err != nil {
		return err
	}
	sessions, err := service.Sessions(x.req.Caller.Tenant, x.name)
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, listOf(sessions))
}

// endSession ends one session and the token with which it was opened.
func endSession(x *apiRequest) error {
	service, err := x.workstations()
	if err != nil {
		return err
	}
	x.req.Trace.SetSession(x.item)
	if err := service.EndSessionBy(x.req.Caller.Tenant, x.name, x.item, x.req.Caller.Name); err != nil {
		return err
	}
	return x.noContent()
}

// workstations returns the service, if it can serve now, and notes the workstation in the record.
func (x *apiRequest) workstations() (*desktop.Service, error) {
	service, err := x.desktops()
	if service != nil {
		x.req.SetWorkstation(x.name)
	}
	return service, err
}

// desktops returns the service of the workstations, if it can serve now.
func (x *apiRequest) desktops() (*desktop.Service, error) {
	service := x.gateway.VNC().Workstations()
	if service == nil {
		return nil, apierror.New(apierror.UnknownURL, "this gateway has no workstations")
	}
	return service, service.Ready()
}
