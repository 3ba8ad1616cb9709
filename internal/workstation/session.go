package workstation

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Session is one viewer at one workstation, from Join to Leave.
type Session struct {
	ID          string // "vnc-" and 16 hex digits
	Workstation ID
	Issuer
	TokenID  string
	Viewer   netip.AddrPort
	Security string // how the viewer proved itself, as Join was told
	ViewOnly bool
	Shared   bool // may be joined by others that are shared
	Started  time.Time

	Up, Down atomic.Int64 // bytes viewer to workstation and back; the relay counts

	state     *State
	emit      func(string, map[string]any)
	token     *token
	place     *entry
	until     time.Time
	reconnect time.Duration
	ctx       context.Context // of no request; cancelled by end
	cancel    context.CancelFunc
	reason    Reason    // guarded by State.mu, as what follows; "" while open
	stopped   time.Time // when reason was set
	left      bool
}

// Join opens the session of a pass that Find gave: under one lock the token is
// looked at again, then release, pinning, the rule for conflicts and the cap on
// sessions. It is the token's first use. The workstation's own handshake should
// be done before. security says for lists and records how the viewer proved
// itself. Every error is a [*Refusal], or internal where randomness fails.
func (d *Service) Join(pass *Pass, viewer netip.AddrPort, security string) (*Session, error) {
	sid, err := newSessionID(d.random)
	if err != nil {
		return nil, err
	}
	viewer = netip.AddrPortFrom(viewer.Addr().Unmap(), viewer.Port())
	ctx, cancel := context.WithCancel(context.Background())
	t, s := pass.token, d.state
	x := &Session{
		ID: sid, Workstation: pass.Workstation, Issuer: pass.Issuer, TokenID: pass.TokenID,
		Viewer: viewer, Security: security, ViewOnly: pass.ViewOnly, Shared: pass.Shared,
		state: s, emit: d.emit, token: t, place: t.place, until: t.until,
		reconnect: d.policy.ReconnectWithin, ctx: ctx, cancel: cancel,
	}
	if err := s.join(d, x); err != nil {
		cancel()
		return nil, err
	}
	d.emit(EventSessionOpened, x.data())
	return x, nil
}

// Look returns the refusal that Join would give the pass now, nil if none: a
// workstation need not be troubled for a viewer that cannot stay. Join decides.
func (d *Service) Look(pass *Pass, viewer netip.Addr) *Refusal {
	s := d.state
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endOverdue(pass.token.place, s.now())
	_, err := s.conflicts(d, pass.token, viewer, pass.Shared)
	return err
}

// conflicts returns the sessions that a new one would replace; mu is held. Even
// where new sessions are refused, a token's holder may replace its own session:
// its viewer came back before the lost connection was noticed. The address must be
// known and the same, as others can read a token on the way.
func (s *State) conflicts(d *Service, t *token, viewer netip.Addr, shared bool) (conflicting []*Session, refusal *Refusal) {
	own := viewer.IsValid()
	for _, other := range t.place.sessions {
		if d.policy.OnConflict != Share && !(shared && other.Shared) {
			conflicting = append(conflicting, other)
			own = own && other.token == t && plain(other.Viewer.Addr()) == plain(viewer)
		}
	}
	if len(conflicting) > 0 && !own && d.policy.OnConflict == Refuse {
		return nil, NewRefusal(RefusedBusy)
	}
	if s.sessions-len(conflicting) >= d.policy.MaxSessions {
		return nil, NewRefusal(RefusedFull)
	}
	return conflicting, nil
}

func (s *State) join(d *Service, x *Session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, t, p := s.now(), x.token, x.place
	s.endOverdue(p, now)
	if err := s.admit(d, t, x.Viewer.Addr(), now); err != nil {
		return err
	}
	conflicting, refusal := s.conflicts(d, t, x.Viewer.Addr(), x.Shared)
	if refusal != nil {
		return refusal
	}
	for _, other := range conflicting {
		s.end(other, ReasonReplaced)
	}
	t.open++
	if !t.client.IsValid() {
		t.client = plain(x.Viewer.Addr())
	}
	x.Started = now
	p.sessions[x.ID] = x
	s.sessions++
	return nil
}

// admit tells whether the token is good for the viewer; mu is held.
func (s *State) admit(d *Service, t *token, viewer netip.Addr, now time.Time) error {
	switch {
	case t.dead != alive:
		return t.dead.refusal()
	case !t.live(now):
		return refuse(RefusedExpired)
	case !d.has(t.place.id):
		return refuse(RefusedUnknown)
	case t.place.released():
		return refuse(RefusedReleased)
	case d.policy.PinClient && t.pinned(viewer):
		return refuse(RefusedPinned)
	}
	return nil
}

// end takes an open session out of the tables; mu is held. A session that has
// ended already keeps its first reason.
func (s *State) end(x *Session, r Reason) {
	if x.reason != "" {
		return
	}
	x.reason, x.stopped = r, s.now()
	delete(x.place.sessions, x.ID)
	s.sessions--
	if x.token.open--; x.token.open == 0 {
		x.token.deadline = x.stopped.Add(x.reconnect)
	}
	x.cancel()
	s.tidy(x.place)
}

// Ended is closed when the session must close: released, replaced, ended by
// hand, removed, shut down. The relay then closes both connections and calls
// Leave.
func (x *Session) Ended() <-chan struct{} { return x.ctx.Done() }

// OnEnd runs f, in a goroutine of its own, when the session must close. Stop
// takes that back; where f has begun it waits for it.
func (x *Session) OnEnd(f func()) (stop func()) {
	done := make(chan struct{})
	takeBack := context.AfterFunc(x.ctx, func() {
		defer close(done)
		f()
	})
	return sync.OnceFunc(func() {
		if !takeBack() {
			<-done
		}
	})
}

// Why is the reason of the end, "" while the session is open.
func (x *Session) Why() Reason {
	x.state.mu.Lock()
	defer x.state.mu.Unlock()
	return x.reason
}

// Until is when the session must end at the latest; the relay sees to it.
func (x *Session) Until() time.Time { return x.until }

// End ends the session for a reason that the relay has found. The first reason
// stays. Leave is still to be called.
func (x *Session) End(r Reason) {
	x.state.mu.Lock()
	defer x.state.mu.Unlock()
	x.state.end(x, r)
}

// Leave says that both connections are closed; only the first call counts.
// Without an End before it, the viewer left. With its last session gone the
// token is good for a reconnect for a while.
func (x *Session) Leave() {
	x.state.mu.Lock()
	x.state.end(x, ReasonViewer)
	first := !x.left
	x.left = true
	x.state.mu.Unlock()
	if !first {
		return
	}
	data := x.data()
	data["reason"] = string(x.reason) // it changes no more
	data["seconds"] = x.stopped.Sub(x.Started).Seconds()
	data["bytes_up"] = x.Up.Load()
	data["bytes_down"] = x.Down.Load()
	x.emit(EventSessionClosed, data)
}

func (x *Session) data() map[string]any {
	return map[string]any{
		"tenant": x.Workstation.Tenant, "workstation": x.Workstation.Name, "session": x.ID,
		"token": x.TokenID, "key": x.Key, "viewer": x.Viewer.String(), "security": x.Security,
	}
}

// Format prints the ID only.
func (x *Session) Format(f fmt.State, _ rune) { fmt.Fprint(f, x.ID) }
