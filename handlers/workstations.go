package handlers

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// List is the shape of every list below /v1.
func List(data any) any {
	return struct {
		Object string `json:"object"`
		Data   any    `json:"data"`
	}{"list", data}
}

// serveWorkstations lists the workstations of the tenant, or of all tenants for a key that sees them.
func serveWorkstations(x *Request) error {
	q, err := x.StrictQuery("cursor", "label", "limit", "source", "tenant")
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
	asked.Sees = x.Req.Caller.Tenants(q.Get("tenant")).Has
	views, next := asked.Page(service.Inventory)
	for i := range views {
		if !manages {
			views[i].Address = ""
		}
	}
	list := workstationList{"list", views, service.Sources.Lists(asked.Sees)}
	if !q.Has("limit") {
		return x.Reply(http.StatusOK, list)
	}
	return x.Reply(http.StatusOK, struct {
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
func serveWorkstation(x *Request) error {
	if _, err := x.StrictQuery(); err != nil {
		return err
	}
	service, manages, err := x.viewWorkstations()
	if err != nil {
		return err
	}
	view, err := service.Get(x.Req.Caller.Tenant, x.Name)
	if err != nil {
		return err
	}
	if !manages {
		view.Address = ""
	}
	x.tagWorkstation(view)
	return x.Reply(http.StatusOK, view)
}

// tagWorkstation names the state of a registration (RFC 9110, 8.8.3).
func (x *Request) tagWorkstation(view desktop.View) {
	if view.Change != 0 {
		x.Writer.Header().Set("ETag", `"`+strconv.FormatInt(view.Change, 36)+`"`)
	}
}

// viewWorkstations returns the service for a key that has one of three scopes. Addresses are only for
// keys that may manage workstations.
func (x *Request) viewWorkstations() (service *desktop.Service, manages bool, err error) {
	if service, err = x.Workstations(); err != nil {
		return nil, false, err
	}
	if x.Req.Caller.Has(keys.WorkstationsManage) {
		return service, true, nil
	}
	if x.Req.Caller.Has(keys.WorkstationsAutomate) {
		return service, false, nil
	}
	return service, false, x.Req.Require(keys.WorkstationsConnect)
}

// registerWorkstation puts a workstation in service: 201 if it is new, else 200. With If-None-Match: *
// it must be new.
func registerWorkstation(x *Request) error {
	service, err := x.Workstations()
	if err != nil {
		return err
	}
	r := desktop.Registration{By: x.Req.Caller.Name}
	if tags := x.HTTP.Header.Values("If-None-Match"); len(tags) > 0 {
		if r.New = len(tags) == 1 && tags[0] == "*"; !r.New {
			return apierror.New(apierror.InvalidValue, "If-None-Match: only * is possible here").WithParam("If-None-Match")
		}
	}
	if err = x.ReadOptions(r.Set); err != nil {
		return err
	}
	view, created, err := service.Register(x.HTTP.Context(), x.Req.Caller.Tenant, x.Name, r)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	x.tagWorkstation(view)
	return x.Reply(status, view)
}

// syncWorkstations registers the workstations that a control plane has.
func syncWorkstations(x *Request) error {
	service, err := x.Desktops()
	if err != nil {
		return err
	}
	list := desktop.Sync{By: x.Req.Caller.Name}
	if err := x.ReadObject(desktop.MaxSyncBytes, list.Set); err != nil {
		return err
	}
	done, err := list.Apply(x.HTTP.Context(), service.Registry, x.Req.Caller.Tenant)
	if err != nil {
		return err
	}
	return x.Reply(http.StatusOK, done)
}

// releaseWorkstation ends all tokens and sessions of a workstation, or of the generation that is
// named: 204 once that is durable, also if it is repeated.
func releaseWorkstation(x *Request) error {
	q, err := x.Query() // others were ignored from the beginning
	if err != nil {
		return err
	}
	service, err := x.Workstations()
	if err != nil {
		return err
	}
	by := desktop.Releaser{Key: x.Req.Caller.Name}
	if machine := q.Get("generation"); q.Has("generation") {
		by.Machine = &machine
	}
	if err := service.Release(x.HTTP.Context(), x.Req.Caller.Tenant, x.Name, by); err != nil {
		return err
	}
	return x.NoContent()
}

// refreshWorkstation has the source of a workstation asked again.
func refreshWorkstation(x *Request) error {
	service, err := x.Workstations()
	if err != nil {
		return err
	}
	if err := service.Sources.Refresh(x.HTTP.Context(), x.Req.Caller.Tenant, x.Name); err != nil {
		return err
	}
	return x.NoContent()
}

// serveSessions lists the open sessions of a workstation.
func serveSessions(x *Request) error {
	if _, err := x.StrictQuery(); err != nil {
		return err
	}
	service, err := x.Workstations()
	if err != nil {
		return err
	}
	sessions, err := service.Sessions(x.Req.Caller.Tenant, x.Name)
	if err != nil {
		return err
	}
	return x.Reply(http.StatusOK, List(sessions))
}

// endSession ends one session and the token with which it was opened.
func endSession(x *Request) error {
	service, err := x.Workstations()
	if err != nil {
		return err
	}
	x.Req.Trace.SetSession(x.Item)
	if err := service.EndSession(x.Req.Caller.Tenant, x.Name, x.Item, x.Req.Caller.Name); err != nil {
		return err
	}
	return x.NoContent()
}

// desktops is the part of a gateway that serves desktops.
type desktops interface {
	Service() (*desktop.Service, error)
	IssuerOf(q *request.Request) desktop.Issuer
	StillMayConnect(caller *request.Caller) error
}

func (x *Request) desktops() desktops {
	part, _ := Part[desktops](x) // each gateway has it
	return part
}

// Issuer returns who asks for a desktop.
func Issuer(x *Request) desktop.Issuer { return x.desktops().IssuerOf(x.Req) }

// Workstations returns the service, if it can serve now, and notes the workstation in the record.
func (x *Request) Workstations() (*desktop.Service, error) {
	service, err := x.Desktops()
	if service != nil {
		x.Req.SetWorkstation(x.Name)
	}
	return service, err
}

// Desktops returns the service of the workstations, if it can serve now.
func (x *Request) Desktops() (*desktop.Service, error) {
	return x.desktops().Service()
}
