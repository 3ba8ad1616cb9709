// Package desktops is the built-in MCP server with which a model uses workstations: it lists them, looks
// at one, acts, waits and asks a person for help.
//
//	transport := desktops.New()                  // of the server; it knows no caller
//	ctx = desktops.With(ctx, desktopsOfACaller)  // of each request
//
// What a caller may do its [Desktops] decide. Of the pictures that a caller was shown nothing is kept: each
// result says in which space coordinates of its picture are, and the next call repeats it.
package desktops

import (
	"context"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/computer"
)

// Desktops are the workstations of a caller, with its rights. Errors are [*apierror.Error]s.
type Desktops interface {
	// List returns those that the caller may at least look at.
	List() ([]Desktop, error)
	// Open returns the desktop of a workstation. Control says that the caller acts, and does not only look.
	// Release must be called on it. changedHands reports whether a person has had the input since it was
	// called last.
	Open(workstation string, control bool) (x Screen, changedHands func() bool, err error)
	// RequestHelp shows a note to persons at the workstation.
	RequestHelp(workstation, note string) error
}

// Screen is an open desktop.
type Screen interface {
	computer.Screen
	Release()
}

// Desktop is a workstation in the list.
type Desktop struct {
	Name       string    `json:"desktop"`
	State      string    `json:"state"`
	Automation string    `json:"automation"` // view or control
	Holder     string    `json:"holder"`     // of its input: human, agent or none
	Since      time.Time `json:"since,omitzero"`
}

type key struct{}

// With returns the context of a request of a caller.
func With(ctx context.Context, d Desktops) context.Context { return context.WithValue(ctx, key{}, d) }

// From returns the desktops of a request, nil without a caller.
func From(ctx context.Context) Desktops {
	d, _ := ctx.Value(key{}).(Desktops)
	return d
}
