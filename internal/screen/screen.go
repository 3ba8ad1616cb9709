// Package screen keeps the desktops that agents look at and act on.
//
//	x, err := screens.Open(ctx, screen.Who{…}) // connects, or finds the open one
//	defer x.Release()                          // after the call
//	shot, err := x.Look(ctx, screen.Want{})    // a picture
//	err = x.Pointer(image.Pt(10, 10), 1)       // input
//
// One desktop is open for each tenant, workstation and key. It is an ordinary session: in lists, and
// ended by a release, its key and its time limits. It stays for a while after the last call, so that
// the pointer keeps its place and the workstation is not dialled for each.
package screen

import (
	"context"
	"image"
	"net/netip"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
)

// Limits bound the open desktops of a process. Zeros take the defaults.
type Limits struct {
	Memory   int64 // bytes of pictures; default DefaultMemory
	Sessions int   // at once; default DefaultSessions
}

// The defaults.
const (
	DefaultMemory   = 256 << 20
	DefaultSessions = 64
)

// Who is a call of an agent.
type Who struct {
	Gateway     vncrelay.Gateway // of the configuration that serves the call
	Issuer      desktop.Issuer   // its key
	Workstation string
	Client      netip.AddrPort // its address, for lists
	Control     bool           // it acts; otherwise it only looks
}

// Screens are the open desktops of agents.
type Screens struct{}

// Open returns the desktop of a workstation for a key, which it connects unless it is open. The caller
// calls Release at the end of its call. Errors are [*apierror.Error]s: automation_off, not_found,
// workstation_occupied, automation_busy, workstation_unreachable and what an address is refused with.
func (s *Screens) Open(ctx context.Context, who Who) (*Screen, error) { return nil, nil }

// Screen is an open desktop. Its methods can be called by several goroutines. After the end of its
// session each returns an [*apierror.Error] that says why.
type Screen struct{ session *desktop.Session }

// Release ends a call.
func (x *Screen) Release() {}

// Session is the session.
func (x *Screen) Session() *desktop.Session { return x.session }

// Want says what a picture has, and when it is taken. The zero value is the whole desktop as it is now.
type Want struct {
	Region              image.Rectangle // of the desktop; empty: all
	MaxWidth, MaxHeight int             // the picture is made smaller to fit; 0: no bound
	Known               string          // ETags that the caller has, in any form
	Wait                time.Duration   // at most, until the picture is not Known
	Quiet, Max          time.Duration   // then until nothing has changed for Quiet, at most Max; 0: not
}

// Shot is a picture.
type Shot struct {
	PNG     []byte          // nil unless Changed; the caller must not change it
	ETag    string          // of pixels and Space, in hex digits; of equal pictures the same
	Size    image.Point     // of the desktop
	Space   image.Point     // of the picture
	Region  image.Rectangle // what it shows
	Changed bool            // it is not Known
	Settled bool            // nothing had changed for Quiet
}

// Look takes a picture.
func (x *Screen) Look(ctx context.Context, want Want) (Shot, error) { return Shot{}, nil }

// Size is that of the desktop.
func (x *Screen) Size() image.Point { return image.Point{} }

// At is where the pointer was sent last.
func (x *Screen) At() image.Point { return image.Point{} }

// Pointer moves the pointer and sets which buttons are down: bit 0 is the left one (RFC 6143, 7.5.5).
// A button that is down comes up by itself after 10 s.
func (x *Screen) Pointer(at image.Point, buttons uint8) error { return nil }

// Key presses or lets go a key by its keysym.
func (x *Screen) Key(keysym uint32, down bool) error { return nil }

// Cut sets the clipboard of the workstation. One that knows only Latin-1 refuses other texts:
// invalid_value.
func (x *Screen) Cut(text string) error { return nil }

// LetGo has every key and button come up that is down.
func (x *Screen) LetGo() error { return nil }

// Acted counts actions of the agent, and characters that they typed, for the record.
func (x *Screen) Acted(actions, typed int) {}
