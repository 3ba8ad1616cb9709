package screencall

import (
	"encoding/json"
	"net/netip"
	"net/url"

	"github.com/gatehouse-proxy/gatehouse/internal/computer"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/desktops"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
	"github.com/gatehouse-proxy/gatehouse/internal/toolcall"
)

// Screens are the desktops that agents use through one gateway.
type Screens struct {
	// Tools say what holds for the tools of the built-in server, and for routes that do the same.
	Tools *toolcall.Deps
	// Open returns the desktop of a workstation for a request, as who says. The caller ends the
	// call with Release.
	Open         func(q *request.Request, who screen.Who) (*screen.Screen, error)
	Workstations func() *desktop.Service // nil: there are none
	Issuer       func(q *request.Request) desktop.Issuer
}

// Act does the actions of an agent's request from an address on a workstation, as the tool act; see
// [Input].
func (s *Screens) Act(q *request.Request, workstation string, client netip.AddrPort) (InputAnswer, error) {
	use, err := toolcall.UseDesktops(s.Tools, q, desktops.Act)
	if err != nil {
		return InputAnswer{}, err
	}
	body, err := q.ReadWhole(computer.MaxBody)
	if err != nil {
		return InputAnswer{}, err
	}
	ctx := q.HTTP.Context()
	return Input(ctx, body,
		func(body []byte) ([]byte, error) { return use.Admit(ctx, body) },
		func() (*screen.Screen, error) {
			return s.Open(q, screen.Who{Workstation: workstation, Client: client, Control: true})
		})
}

// Preview answers a page of the console with a small picture of a workstation. The rights are those
// of an agent, and nothing else is.
func (s *Screens) Preview(q *request.Request, workstation string, client netip.AddrPort, parameters url.Values) error {
	return Screenshot(q, parameters, func(waits bool) (*screen.Screen, error) {
		if err := toolcall.MayUseDesktops(s.Tools, q, lookOr(waits)); err != nil {
			return nil, err
		}
		return s.Open(q, screen.Who{Workstation: workstation, Client: client, Preview: true})
	})
}

// lookOr is the tool that a screenshot is.
func lookOr(waits bool) string {
	if waits {
		return desktops.Wait
	}
	return desktops.Look
}

// Show answers an agent's request from an address with a picture of a workstation, as the tools
// look and wait; see [Screenshot].
func (s *Screens) Show(q *request.Request, workstation string, client netip.AddrPort, parameters url.Values) error {
	q.Outcome.Keep()
	return Screenshot(q, parameters, func(waits bool) (*screen.Screen, error) {
		use, err := toolcall.UseDesktops(s.Tools, q, lookOr(waits))
		if err == nil {
			_, err = use.Admit(q.HTTP.Context(), nil)
		}
		if err != nil {
			return nil, err
		}
		return s.Open(q, screen.Who{Workstation: workstation, Client: client})
	})
}

// AdmitHelp lets an agent's request ask for a person, as the tool request_help. It returns the note
// that guardrails leave.
func (s *Screens) AdmitHelp(q *request.Request, note string) (string, error) {
	use, err := toolcall.UseDesktops(s.Tools, q, desktops.RequestHelp)
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
func (s *Screens) MayTake(q *request.Request, note string) (string, error) {
	return note, toolcall.LeavesDesktops(s.Tools, q, desktops.Act)
}
