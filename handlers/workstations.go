package handlers

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

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
	q, err := x.strictQuery("cursor", "label", "limit", "source", "tenant")
	if err != nil {
		return err
	}
	asked, err := workstationQuery(q)
	if err != nil {
		return err
	}
	service, manages, err := x.viewWorkstations()
	if err != nil {
		return err
	}
	asked.Sees = x.req.Caller.Tenants(q.Get("tenant")).Has
	views, next := asked.Page(service.Inventory)
	for i := range views {
		if !manages {
			views[i].Address = ""
		}
	}
	list := workstationList{"list", views, service.Sources.Lists(asked.Sees)}
	if !q.Has("limit") {
		return x.reply(http.StatusOK, list)
	}
	return x.reply(http.StatusOK, struct {
		workstationList
		Next *string `json:"next_cursor"` // null after the last page
	}{list, orNull(next)})
}

// workstationList is the list without the mark of its next page.
type workstationList struct {
	// Object is always "list".
	Object string `json:"object"`
	// Data are the workstations.
	Data []desktop.View `json:"data"`
	// Sources are the control planes that have more of them.
	Sources []desktop.SourceList `json:"sources,omitempty"`
}

// maxWorkstations bounds a page of the list. Without a limit it has all.
const maxWorkstations = 1000

// workstationQuery reads the filters of the list.
func workstationQuery(q url.Values) (asked desktop.Query, err error) {
	asked = desktop.Query{Source: q.Get("source"), After: q.Get("cursor"), Labels: make(map[string]string)}
	if q.Has("limit") {
		asked.Limit, err = strconv.Atoi(q.Get("limit"))
		if err != nil || asked.Limit < 1 || asked.Limit > maxWorkstations {
			return asked, apierror.New(apierror.InvalidValue, "limit: want a number from 1 to %d", maxWorkstations).WithParam("limit")
		}
	}
	for _, text := range q["label"] {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return asked, apierror.New(apierror.InvalidValue, "label: want NAME=VALUE").WithParam("label")
		}
		asked.Labels[name] = value
	}
	return asked, nil
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
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
	x.tagWorkstation(view)
	return x.reply(http.StatusOK, view)
}

// tagWorkstation names the state of a registration (RFC 9110, 8.8.3).
func (x *apiRequest) tagWorkstation(view desktop.View) {
	if view.Change != 0 {
		x.w.Header().Set("ETag", `"`+strconv.FormatInt(view.Change, 36)+`"`)
	}
}

// viewWorkstations returns the service for a key that has one of three scopes. Addresses are only for
// keys that may manage workstations.
func (x *apiRequest) viewWorkstations() (service *desktop.Service, manages bool, err error) {
	if service, err = x.workstations(); err != nil {
		return nil, false, err
	}
	if x.req.Caller.Has(keys.WorkstationsManage) {
		return service, true, nil
	}
	if x.req.Caller.Has(keys.WorkstationsAutomate) {
		return service, false, nil
	}
	return service, false, x.req.Require(keys.WorkstationsConnect)
}

// registerWorkstation puts a workstation in service: 201 if it is new, else 200. With If-None-Match: *
// it must be new.
func registerWorkstation(x *apiRequest) error {
	service, err := x.workstations()
	if err != nil {
		return err
	}
	r := desktop.Registration{By: x.req.Caller.Name}
	if tags := x.r.Header.Values("If-None-Match"); len(tags) > 0 {
		if r.New = len(tags) == 1 && tags[0] == "*"; !r.New {
			return apierror.New(apierror.InvalidValue, "If-None-Match: only * is possible here").WithParam("If-None-Match")
		}
	}
	if err = x.readOptions(r.Set); err != nil {
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
	x.tagWorkstation(view)
	return x.reply(status, view)
}

// syncWorkstations registers the workstations that a control plane has.
func syncWorkstations(x *apiRequest) error {
	service, err := x.desktops()
	if err != nil {
		return err
	}
	list := desktop.Sync{By: x.req.Caller.Name}
	if err := x.readObject(desktop.MaxSyncBytes, list.Set); err != nil {
		return err
	}
	done, err := list.Apply(x.r.Context(), service.Registry, x.req.Caller.Tenant)
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, done)
}

// releaseWorkstation ends all tokens and sessions of a workstation, or of the generation that is
// named: 204 once that is durable, also if it is repeated.
func releaseWorkstation(x *apiRequest) error {
	q, err := x.query() // others were ignored from the beginning
	if err != nil {
		return err
	}
	service, err := x.workstations()
	if err != nil {
		return err
	}
	by := desktop.Releaser{Key: x.req.Caller.Name}
	if machine := q.Get("generation"); q.Has("generation") {
		by.Machine = &machine
	}
	if err := service.ReleaseBy(x.r.Context(), x.req.Caller.Tenant, x.name, by); err != nil {
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
	if err := service.Sources.Refresh(x.r.Context(), x.req.Caller.Tenant, x.name); err != nil {
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
