package handlers

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// serveOpenSessions lists the open sessions that the key may see, oldest first: with workstations:manage
// or workstations:observe those of its tenant, with workstations:connect its own.
func serveOpenSessions(x *Request) error {
	q, err := x.StrictQuery("key", "tenant", "workstation")
	if err != nil {
		return err
	}
	service, sees, err := visibleSessions(x, q.Get("tenant"), keys.WorkstationsManage|keys.WorkstationsObserve)
	if err != nil {
		return err
	}
	name, key := q.Get("workstation"), q.Get("key")
	return x.Reply(http.StatusOK, List(service.OpenSessions(func(s desktop.SessionView) bool {
		return (name == "" || s.Workstation == name) && (key == "" || s.Key == key) && sees(s)
	})))
}

// endOpenSession ends one session that the key may see, and the token with which it was opened.
func endOpenSession(x *Request) error {
	if _, err := x.StrictQuery(); err != nil {
		return err
	}
	service, sees, err := visibleSessions(x, "", keys.WorkstationsManage)
	if err != nil {
		return err
	}
	x.Req.Trace.SetSession(x.Name)
	ended, err := service.EndOpenSession(x.Name, x.Req.Caller.Name, sees)
	if err != nil {
		return err
	}
	x.Req.SetWorkstation(ended.Workstation)
	return x.NoContent()
}

// visibleSessions returns the service and which sessions the key may see, of one tenant if that is
// not "": with one of the scopes those of all keys, else its own.
func visibleSessions(x *Request, tenant string, scopes keys.Scope) (service *desktop.Service, sees func(desktop.SessionView) bool, err error) {
	key := x.Req.Caller.Key
	all := key.Scopes&scopes != 0
	if !all {
		if err := x.Req.Require(keys.WorkstationsConnect); err != nil {
			return nil, nil, err
		}
	}
	if service, err = x.Desktops(); err != nil {
		return nil, nil, err
	}
	tenants := key.Tenants(tenant)
	return service, func(s desktop.SessionView) bool {
		return tenants.Has(s.Tenant) && (all || s.Key == key.Name && s.Tenant == key.Tenant)
	}, nil
}
