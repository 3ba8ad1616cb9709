package gateway

import (
	"encoding/json"
	"net/netip"
	"net/url"

	"github.com/gatehouse-proxy/gatehouse/internal/computer"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/desktops"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
	"github.com/gatehouse-proxy/gatehouse/internal/screencall"
	"github.com/gatehouse-proxy/gatehouse/internal/toolcall"
)

// IssuerOf returns who asks for the desktop that a request is about.
func IssuerOf(q *request.Request) desktop.Issuer {
	key := q.Caller.Credential
	return desktop.Issuer{
		Tenant: key.Tenant, Key: key.Name, KeyHash: key.Hash, User: q.Outcome.Record.User, Until: key.Expires, Trace: q.Trace.Origin(),
	}
}

// Screen returns the desktop of a workstation for a request from an address, as who says. The caller ends the
// call with Release; see [screen.Screens.Open]. The row of an agent's session has the trace of the request.
func (v VNC) Screen(q *request.Request, who screen.Who) (*screen.Screen, error) {
	who.Gateway, who.Issuer, who.Public = v, IssuerOf(q), !request.OnLoopback(q.HTTP)
	who.Issuer.Trace = who.Issuer.Trace.InRun(q.Outcome.Record.TraceID)
	x, err := v.gateway.state.Screens.Open(q.HTTP.Context(), who)
	if err == nil {
		q.Trace.SetSession(x.Session().ID)
	}
	return x, err
}

// Act does the actions of an agent's request from an address on a workstation, as the tool act; see
// [screencall.Input].
func Act(v VNC, q *request.Request, workstation string, client netip.AddrPort) (screencall.InputAnswer, error) {
	use, err := toolcall.UseDesktops(&v.gateway.tools, q, desktops.Act)
	if err != nil {
		return screencall.InputAnswer{}, err
	}
	body, err := q.ReadWhole(computer.MaxBody)
	if err != nil {
		return screencall.InputAnswer{}, err
	}
	ctx := q.HTTP.Context()
	return screencall.Input(ctx, body,
		func(body []byte) ([]byte, error) { return use.Admit(ctx, body) },
		func() (*screen.Screen, error) {
			return v.Screen(q, screen.Who{Workstation: workstation, Client: client, Control: true})
		})
}

// ServePreview answers a page of the console with a small picture of a workstation. The rights are those of an
// agent, and nothing else is.
func ServePreview(v VNC, q *request.Request, workstation string, client netip.AddrPort, parameters url.Values) error {
	return screencall.Screenshot(q, parameters, func(waits bool) (*screen.Screen, error) {
		if err := toolcall.MayUseDesktops(&v.gateway.tools, q, lookOr(waits)); err != nil {
			return nil, err
		}
		return v.Screen(q, screen.Who{Workstation: workstation, Client: client, Preview: true})
	})
}

// lookOr is the tool that a screenshot is.
func lookOr(waits bool) string {
	if waits {
		return desktops.Wait
	}
	return desktops.Look
}

// ServeScreenshot answers an agent's request from an address with a picture of a workstation, as the tools
// look and wait; see [screencall.Screenshot].
func ServeScreenshot(v VNC, q *request.Request, workstation string, client netip.AddrPort, parameters url.Values) error {
	q.Outcome.Keep()
	return screencall.Screenshot(q, parameters, func(waits bool) (*screen.Screen, error) {
		use, err := toolcall.UseDesktops(&v.gateway.tools, q, lookOr(waits))
		if err == nil {
			_, err = use.Admit(q.HTTP.Context(), nil)
		}
		if err != nil {
			return nil, err
		}
		return v.Screen(q, screen.Who{Workstation: workstation, Client: client})
	})
}

// AdmitHelp lets an agent's request ask for a person, as the tool request_help. It returns the note that
// guardrails leave.
func AdmitHelp(v VNC, q *request.Request, note string) (string, error) {
	use, err := toolcall.UseDesktops(&v.gateway.tools, q, desktops.RequestHelp)
	if err != nil {
		return "", err
	}
	said := struct {
		Note string `json:"note"`
	}{note}
	body, err := json.Marshal(said)
	if err != nil {
		return "", err
	}
	if body, err = use.Admit(q.HTTP.Context(), body); err != nil || body == nil {
		return note, err
	}
	err = json.Unmarshal(body, &said)
	return said.Note, err
}

// MayTake refuses the key of an agent that may not act: it takes no input in the name of a person.
func MayTake(v VNC, q *request.Request, note string) (string, error) {
	return note, toolcall.LeavesDesktops(&v.gateway.tools, q, desktops.Act)
}
