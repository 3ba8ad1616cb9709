package handlers

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// listOf is the form of every list below /v1.
func listOf(data any) any {
	return struct {
		Object string `json:"object"`
		Data   any    `json:"data"`
	}{"list", data}
}

// serveWorkstations lists the tenant's workstations. Addresses are for keys
// that manage them.
func serveWorkstations(x *apiRequest) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	service, err := x.workstations()
	if err != nil {
		return err
	}
	manages, err := x.seesWorkstations()
	if err != nil {
		return err
	}
	views := service.List(x.Credential.Tenant)
	if !manages {
		for i := range views {
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
	service, err := x.workstations()
	if err != nil {
		return err
	}
	manages, err := x.seesWorkstations()
	if err != nil {
		return err
	}
	view, err := service.Get(x.Credential.Tenant, x.name)
	if err != nil {
		return err
	}
	if !manages {
		view.Address = ""
	}
	return x.reply(http.StatusOK, view)
}

// seesWorkstations requires one of the two scopes and reports whether it is the
// greater one.
func (x *apiRequest) seesWorkstations() (manages bool, err error) {
	if x.Credential.Has(keys.WorkstationsManage) {
		return true, nil
	}
	return false, x.Require(keys.WorkstationsConnect)
}

// registerWorkstation puts a workstation in service: 201 when it is new.
func registerWorkstation(x *apiRequest) error {
	service, err := x.workstations()
	if err != nil {
		return err
	}
	var r workstation.Registration
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
	view, created, err := service.Register(x.r.Context(), x.Credential.Tenant, x.name, r)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return x.reply(status, view)
}

// releaseWorkstation ends all that is open at a workstation; 204 when that is
// done and durable, again when it is repeated.
func releaseWorkstation(x *apiRequest) error {
	service, err := x.workstations()
	if err != nil {
		return err
	}
	if err := service.Release(x.r.Context(), x.Credential.Tenant, x.name); err != nil {
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
	sessions, err := service.Sessions(x.Credential.Tenant, x.name)
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, listOf(sessions))
}

// endSession ends one session and the token that it came with.
func endSession(x *apiRequest) error {
	service, err := x.workstations()
	if err != nil {
		return err
	}
	if err := service.EndSession(x.Credential.Tenant, x.name, x.item); err != nil {
		return err
	}
	return x.noContent()
}

// workstations returns the service, if it can serve now, and notes the workstation in the record.
func (x *apiRequest) workstations() (*workstation.Service, error) {
	service := x.gateway.VNC().Workstations()
	if service == nil {
		return nil, apierror.New(apierror.UnknownURL, "this gateway has no workstations")
	}
	x.SetWorkstation(x.name)
	return service, service.Ready()
}
