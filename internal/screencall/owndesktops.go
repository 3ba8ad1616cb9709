package screencall

import (
	"context"
	"net/netip"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/desktops"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
)

// With returns the context of a request of a client to the built-in server of desktops.
func (s *Screens) With(ctx context.Context, q *request.Request, client netip.AddrPort) context.Context {
	return desktops.With(ctx, ownDesktops{s, q, client})
}

// ownDesktops are the workstations of a caller, as the built-in MCP server has them.
type ownDesktops struct {
	screens *Screens
	req     *request.Request
	client  netip.AddrPort
}

// service returns the service of the workstations for a key that may automate them.
func (o ownDesktops) service() (*desktop.Service, error) {
	if err := o.req.Require(keys.WorkstationsAutomate); err != nil {
		return nil, err
	}
	service := o.screens.Workstations()
	if service == nil {
		return nil, apierror.New(apierror.NotFound, "this gateway has no workstations")
	}
	return service, service.Ready()
}

// maxDesktops bounds the list: a model reads each line of it.
const maxDesktops = 200

// List implements [desktops.Desktops].
func (o ownDesktops) List() (all []desktops.Desktop, err error) {
	service, err := o.service()
	if err != nil {
		return nil, err
	}
	by := o.screens.Issuer(o.req)
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
func (o ownDesktops) Open(workstation string, control bool) (desktops.Screen, func() bool, error) {
	if _, err := o.service(); err != nil {
		return nil, nil, err
	}
	o.req.SetWorkstation(workstation)
	x, err := o.screens.Open(o.req, screen.Who{Workstation: workstation, Client: o.client, Control: control})
	if err != nil {
		return nil, nil, err
	}
	return x, x.Session().Input.ChangedHands, nil
}

// RequestHelp implements [desktops.Desktops].
func (o ownDesktops) RequestHelp(workstation, note string) error {
	service, err := o.service()
	if err != nil {
		return err
	}
	o.req.SetWorkstation(workstation)
	_, err = service.Input.RequestHelp(o.screens.Issuer(o.req), workstation, note)
	return err
}
