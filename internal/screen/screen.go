// Package screen keeps the desktops that agents look at and act on.
//
//	x, err := screens.Open(ctx, screen.Who{…}) // connects, or finds the open one
//	defer x.Release()                          // after the call
//	shot, err := x.Look(ctx, screen.Want{})    // a picture
//	err = x.Pointer(image.Pt(10, 10), 1)       // input
//
// One desktop is open for each tenant, workstation and key. It is an ordinary session: in lists, and
// ended by a release, its key and its time limits. It stays for a while after the last call, so that
// the pointer keeps its place and the workstation is not dialled for each call.
//
//	screen      which desktops are open, and how many may be
//	session     from the connection to the end
//	updates     what the workstation was asked to send, and whether it has
//	look        waits for the picture that a call wants
//	shot        a part of it, made smaller, as PNG
//	input       keys, buttons and clipboard
//	connection  the connection, and errors of its end
package screen

import (
	"cmp"
	"context"
	"net/netip"
	"runtime"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/share"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
)

// Limits bound the open desktops of a process. Zeros take the defaults.
type Limits struct {
	Memory   int64 // bytes of pictures, and of PNGs until they are written; default DefaultMemory
	Sessions int   // at once; default DefaultSessions
}

// The defaults.
const (
	DefaultMemory   = 256 << 20
	DefaultSessions = 64
)

// Previews take nothing of what agents have.
const (
	previewMemory   = 128 << 20 // bytes
	previewSessions = 64        // at once: some pages with a dozen each
)

// Who is a call of an agent.
type Who struct {
	Gateway     vncrelay.Gateway // of the configuration that serves the call
	Issuer      desktop.Issuer   // its key
	Workstation string
	Client      netip.AddrPort // its address, for lists
	Public      bool           // other machines can reach the address that it called
	Control     bool           // it acts; otherwise it only looks
	Preview     bool           // it is no agent, but a page with small pictures: see [desktop.Preview]
}

// Screens are the open desktops of agents. Their pictures take half of the processors at most: one of the
// largest desktop takes half a second.
type Screens struct {
	agents, previews pool

	makers chan struct{} // pictures that are made at a time
	dial   vncrelay.Dialer

	mu   sync.Mutex // guards the following, and most of both
	open map[place]*Screen
}

// pool is what desktops of one kind share.
type pool struct {
	memory memory.Semaphore
	full   error // there is no more memory
	places share.Pool
	most   int
}

// place is what has one desktop.
type place struct {
	tenant, workstation, key string
	preview                  bool
}

var (
	errMemory         = busy("automation_memory", "the pictures of agents' desktops fill automation_memory")
	errPreviewsMemory = apierror.New(apierror.AutomationBusy, "small pictures fill the memory that they have")
	errPreviews       = apierror.New(apierror.AutomationBusy, "pages show small pictures of as many desktops as they may")
)

// New returns Screens without a desktop. dial is vncrelay.DialWorkstation outside tests.
func New(dial vncrelay.Dialer) *Screens {
	s := &Screens{dial: dial, makers: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), open: make(map[place]*Screen)}
	s.agents.full, s.previews.full = errMemory, errPreviewsMemory
	s.previews.memory.SetLimit(previewMemory)
	s.previews.most = previewSessions
	s.SetLimits(Limits{})
	return s
}

// SetLimits changes the bounds of agents. Open desktops stay.
func (s *Screens) SetLimits(l Limits) {
	s.agents.memory.SetLimit(cmp.Or(l.Memory, DefaultMemory))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents.most = cmp.Or(l.Sessions, DefaultSessions)
}

// Memory returns how many bytes the pictures of agents take, and how many they may.
func (s *Screens) Memory() (used, limit int64) {
	return s.agents.memory.Used(), s.agents.memory.Limit()
}

// Open returns the desktop of a workstation for a key, which it connects unless it is open. The caller
// calls Release at the end of its call. Every error is an [*apierror.Error]: automation_off, not_found,
// workstation_occupied, automation_busy, workstation_unreachable, or what an address is refused with.
func (s *Screens) Open(ctx context.Context, who Who) (*Screen, error) {
	need := desktop.AutomationView
	if who.Control {
		need = desktop.AutomationControl
	}
	who.Issuer.Agent = true
	for {
		if err := who.may(need); err != nil {
			return nil, err
		}
		x, err := s.enter(who)
		if err != nil {
			return nil, err
		}
		again, err := x.arrive(ctx)
		if err == nil && !again && !x.conn.session.Pass.Rules.Automates(need) {
			if again = need == desktop.AutomationControl && !x.control; again { // the rules were raised since
				x.Session().End(desktop.ReasonRemoved)
			} else {
				err = apierror.New(apierror.AutomationOff, "the source of workstation %q does not let agents do that", who.Workstation)
			}
		}
		if err == nil && !again {
			if who.Control {
				x.conn.session.Recording.Mark("action", "")
			}
			return x, nil
		}
		x.Release()
		if err != nil {
			return nil, err
		}
	}
}

// may refuses a call that its rules do not allow.
func (who *Who) may(need desktop.Automation) error {
	service := who.Gateway.Workstations()
	if who.Preview {
		return desktop.MayPreview(service, who.Issuer, who.Workstation)
	}
	return desktop.MayAutomate(service, who.Issuer, who.Workstation, need)
}

// enter returns the desktop for a call, whose end is Release.
func (s *Screens) enter(who Who) (*Screen, error) {
	at, of := place{who.Issuer.Tenant, who.Workstation, who.Issuer.Key, who.Preview}, &s.agents
	if who.Preview {
		of = &s.previews
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.open[at]
	if x == nil {
		release, ok := of.places.Acquire(at.tenant, at.key, of.most)
		switch {
		case !ok && who.Preview:
			return nil, errPreviews
		case !ok:
			return nil, busy("automation_sessions", "agents have as many of %d desktops open as they may, and this key can have no more now", of.most)
		}
		x = newScreen(s, of)
		x.control = desktop.MayAutomate(who.Gateway.Workstations(), who.Issuer, who.Workstation, desktop.AutomationControl) == nil
		x.shots.leave = 1 // for PNGs
		for other := range s.open {
			if other.tenant == at.tenant && other.preview == at.preview { // another eighth is for tenants that have no desktop
				x.shots.leave = 2
			}
		}
		s.open[at] = x
		go func() {
			defer s.left(at, x, release)
			x.run(&who, s.dial)
		}()
	}
	x.life.begin()
	return x, nil
}

// left takes out a desktop that has ended.
func (s *Screens) left(at place, x *Screen, release func()) {
	release()
	s.mu.Lock()
	delete(s.open, at)
	s.mu.Unlock()
	close(x.over)
}

func busy(option, format string, args ...any) *apierror.Error {
	e := apierror.New(apierror.AutomationBusy, format, args...)
	e.RefusedBy = "vnc: " + option
	return e
}
