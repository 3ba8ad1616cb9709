package gateway

import (
	"net/netip"
	"net/url"

	"github.com/gatehouse-proxy/gatehouse/internal/computer"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
	"github.com/gatehouse-proxy/gatehouse/internal/screencall"
)

// IssuerOf returns who asks for the desktop that a request is about.
func IssuerOf(q *request.Request) desktop.Issuer {
	key := q.Caller.Credential
	return desktop.Issuer{
		Tenant: key.Tenant, Key: key.Name, KeyHash: key.Hash, User: q.Outcome.Record.User, Until: key.Expires, Trace: q.Trace.Origin(),
	}
}

// Screen returns the desktop of a workstation for an agent's request from an address, to look at it or to
// act too. The caller ends the call with Release; see [screen.Screens.Open]. The row of the session has the
// trace of the request.
func (v VNC) Screen(q *request.Request, workstation string, client netip.AddrPort, control bool) (*screen.Screen, error) {
	by := IssuerOf(q)
	by.Trace = by.Trace.InRun(q.Outcome.Record.TraceID)
	x, err := v.gateway.state.Screens.Open(q.HTTP.Context(), screen.Who{
		Gateway: v, Issuer: by, Workstation: workstation, Client: client, Public: !request.OnLoopback(q.HTTP), Control: control,
	})
	if err == nil {
		q.Trace.SetSession(x.Session().ID)
	}
	return x, err
}

// Act does the actions of an agent's request from an address on a workstation; see [screencall.Input].
func Act(v VNC, q *request.Request, workstation string, client netip.AddrPort) (screencall.InputAnswer, error) {
	body, err := q.ReadWhole(computer.MaxBody)
	if err != nil {
		return screencall.InputAnswer{}, err
	}
	return screencall.Input(q.HTTP.Context(), body, func() (*screen.Screen, error) { return v.Screen(q, workstation, client, true) })
}

// ServeScreenshot answers an agent's request from an address with a picture of a workstation; see
// [screencall.Screenshot].
func (v VNC) ServeScreenshot(q *request.Request, workstation string, client netip.AddrPort, parameters url.Values) error {
	return screencall.Screenshot(q, parameters, func() (*screen.Screen, error) { return v.Screen(q, workstation, client, false) })
}
