package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/desktops"
)

// serveMCP relays a request to the MCP server that the path names.
func serveMCP(x *apiRequest) error {
	return gateway.ServeTools(x.gateway, x.req, x.name, ownDesktops{x})
}

// ownDesktops are the workstations of a caller, as the built-in MCP server has them.
type ownDesktops struct{ x *apiRequest }

// service returns the service of the workstations for a key that may automate them.
func (o ownDesktops) service() (*desktop.Service, error) {
	if err := o.x.req.Require(keys.WorkstationsAutomate); err != nil {
		return nil, err
	}
	return o.x.desktops()
}

// maxDesktops bounds the list: a model reads each line of it.
const maxDesktops = 200

// List implements [desktops.Desktops].
func (o ownDesktops) List() (all []desktops.Desktop, err error) {
	service, err := o.service()
	if err != nil {
		return nil, err
	}
	by := gateway.IssuerOf(o.x.req)
	asked := desktop.Query{Sees: func(tenant string) bool { return tenant == by.Tenant }, Limit: maxDesktops}
	views, _ := asked.Page(service.Inventory)
	for _, view := range views {
		d := desktops.Desktop{Name: view.Name, State: view.State, Automation: desktop.AutomationControl.String()}
		if desktop.MayAutomate(service, by, view.Name, desktop.AutomationControl) != nil {
			d.Automation = desktop.AutomationView.String()
		}
		if desktop.MayAutomate(service, by, view.Name, desktop.AutomationView) != nil {
			continue
		}
		held, err := service.Input.Of(by.Tenant, view.Name)
		if err != nil {
			return nil, err
		}
		d.Holder, d.Since = held.Holder, held.Since
		all = append(all, d)
	}
	return all, nil
}

// Open implements [desktops.Desktops].
func (o ownDesktops) Open(workstation string, control bool) (desktops.Screen, error) {
	if _, err := o.service(); err != nil {
		return nil, err
	}
	o.x.req.SetWorkstation(workstation)
	return o.x.gateway.VNC().Screen(o.x.req, workstation, caddykit.ClientAddr(o.x.r), control)
}

// RequestHelp implements [desktops.Desktops].
func (o ownDesktops) RequestHelp(workstation, note string) error {
	service, err := o.service()
	if err != nil {
		return err
	}
	o.x.req.SetWorkstation(workstation)
	_, err = service.Input.RequestHelp(gateway.IssuerOf(o.x.req), workstation, note)
	return err
}
