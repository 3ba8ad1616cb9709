package desktop

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// Session is one viewer at one workstation, from Join to Leave.
type Session struct {
	Pass     *Pass
	ID       string // "vnc-" and 16 hex digits
	Viewer   netip.AddrPort
	Security string // how the viewer showed its token, as Join was given it
	Started  time.Time

	Up, Down atomic.Int64 // bytes viewer to workstation and back; the relay counts

	ended   chan struct{} // closed by end
	onEnd   []*ending     // guarded by State.mu, as what follows
	reason  Reason        // "" while open
	by      string        // the key that ended it, where that is known
	stopped time.Time     // when reason was set
	left    bool
	early   *time.Timer // ends it before the time that Until returned at first; nil: none
}

// ending is a function that OnEnd was given.
type ending struct {
	f    func()
	over chan struct{} // closed when f has returned; nil until it begins
}

// begin is called with State.mu held.
func (e *ending) begin() {
	e.over = make(chan struct{})
	go func() {
		defer close(e.over)
		e.f()
	}()
}

// Join opens the session of the pass. Under one lock it checks the token again, then release,
// pinning, the rule for conflicts and the limit of sessions. It is the token's first use. The
// workstation's own handshake should be done before. security names for lists and records how the
// viewer showed its token. Every error is a [*Refusal], or internal where randomness fails.
func (p *Pass) Join(viewer netip.AddrPort, security string) (*Session, error) {
	id, err := newSessionID(p.service.random)
	if err != nil {
		return nil, err
	}
	x := &Session{
		Pass: p, ID: id, Viewer: netip.AddrPortFrom(viewer.Addr().Unmap(), viewer.Port()), Security: security,
		ended: make(chan struct{}),
	}
	if err := p.service.state.join(x); err != nil {
		return nil, err
	}
	p.service.emit(EventSessionOpened, x.data)
	return x, nil
}

// Look returns the refusal that Join would give the pass now, nil if none: the workstation need not
// be dialled for a viewer that cannot stay. Join decides.
func (p *Pass) Look(viewer netip.Addr) *Refusal {
	s := p.service.state
	if s.shared != nil {
		if p.look == "" {
			return nil
		}
		return NewRefusal(p.look)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endOverdue(p.token.entry, s.now())
	_, refusal := s.conflicts(p, viewer)
	return refusal
}

func newSessionID(random io.Reader) (string, error) {
	var raw [8]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	return "vnc-" + hex.EncodeToString(raw[:]), nil
}

// conflicts returns the sessions that a new one would replace; mu is held. See [Claim] for which it may
// replace. Even where new sessions are refused, a token's holder may replace its own session: its viewer
// came back before the lost connection was noticed. The address must be known and the same, as others
// can read a token on the way.
func (s *State) conflicts(pass *Pass, viewer netip.Addr) (conflicting []*Session, refusal *Refusal) {
	policy, t := &pass.service.policy, pass.token
	for _, other := range t.entry.sessions {
		conflict, wins := t.claim.over(policy.OnConflict, pass.Shared && other.Pass.Shared, other.Pass.sameKey(&t.issuer))
		back := viewer.IsValid() && other.Pass.token == t && plain(other.Viewer.Addr()) == plain(viewer)
		switch {
		case conflict && !wins && !back:
			return nil, NewRefusal(RefusedBusy)
		case conflict:
			conflicting = append(conflicting, other)
		}
	}
	if s.sessions-len(conflicting) >= policy.MaxSessions {
		return nil, NewRefusal(RefusedFull)
	}
	return conflicting, nil
}

func (s *State) join(x *Session) error {
	if s.shared != nil {
		return s.shared.join(x)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now, t := s.now(), x.Pass.token
	s.endOverdue(t.entry, now)
	if err := s.admit(x.Pass.service, t, x.Viewer.Addr(), now); err != nil {
		return err
	}
	if x.Pass.withdrawn() { // before it replaces anybody
		return refuse(RefusedRevoked)
	}
	conflicting, refusal := s.conflicts(x.Pass, x.Viewer.Addr())
	if refusal != nil {
		return refusal
	}
	for _, other := range conflicting {
		s.replace(other, x)
	}
	t.open++
	if !t.client.IsValid() {
		t.client = plain(x.Viewer.Addr())
	}
	x.Started = now
	t.entry.sessions[x.ID] = x
	s.sessions++
	if t.once {
		s.retire(t, used)
	}
	return nil
}

// admit returns the refusal of a token that is not good for the viewer; mu is held.
func (s *State) admit(w *Service, t *token, viewer netip.Addr, now time.Time) error {
	switch {
	case t.dead != alive:
		return t.dead.refusal()
	case !t.live(now):
		return refuse(RefusedExpired)
	case !w.has(t.entry.id):
		return refuse(RefusedUnknown)
	case t.entry.released():
		return refuse(RefusedReleased)
	case w.policy.PinClient && t.pinned(viewer):
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
	if x.early != nil {
		x.early.Stop()
	}
	t := x.Pass.token
	delete(t.entry.sessions, x.ID)
	s.sessions--
	if t.open--; t.open == 0 {
		t.deadline = x.stopped.Add(x.Pass.service.policy.ReconnectWithin)
	}
	close(x.ended)
	for _, e := range x.onEnd {
		e.begin()
	}
	x.onEnd = nil
	s.tidy(t.entry)
}

func (x *Session) state() *State { return x.Pass.service.state }

// replace ends a session for a newer one; mu is held.
func (s *State) replace(x, newer *Session) {
	s.endBy(x, ReasonReplaced, newer.Pass.Key)
}

// endBy is end by a key; mu is held.
func (s *State) endBy(x *Session, r Reason, key string) {
	if x.reason == "" {
		x.by = key
	}
	s.end(x, r)
}

// Ended is closed when the session must close: released, replaced, ended by hand, removed, shut
// down. The relay then closes both connections and calls Leave.
func (x *Session) Ended() <-chan struct{} { return x.ended }

// OnEnd runs f, in a goroutine of its own, when the session must close. Stop takes that back; where
// f has begun it waits for it. It does what context.AfterFunc would, without a context and its table
// for each open session.
func (x *Session) OnEnd(f func()) (stop func()) {
	s, e := x.state(), &ending{f: f}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.reason != "" {
		e.begin()
	} else {
		x.onEnd = append(x.onEnd, e)
	}
	return func() {
		s.mu.Lock()
		begun := e.over
		if begun == nil {
			x.onEnd = slices.DeleteFunc(x.onEnd, func(other *ending) bool { return other == e })
		}
		s.mu.Unlock()
		if begun != nil {
			<-begun
		}
	}
}

// Why is the reason of the end, "" while the session is open.
func (x *Session) Why() Reason {
	x.state().mu.Lock()
	defer x.state().mu.Unlock()
	return x.reason
}

// EndedBy is the key that released the workstation, took it, or ended the session by hand; "" where none
// did, or this gateway was not told which.
func (x *Session) EndedBy() string {
	x.state().mu.Lock()
	defer x.state().mu.Unlock()
	return x.by
}

// Until is when the relay must end the session at the latest. If that time comes forward later, the
// session ends by itself.
func (x *Session) Until() time.Time {
	x.state().mu.Lock()
	defer x.state().mu.Unlock()
	return x.Pass.token.until
}

// End ends the session for a reason that the relay has found. The first reason stays. Leave must
// still be called.
func (x *Session) End(r Reason) {
	x.state().mu.Lock()
	defer x.state().mu.Unlock()
	x.state().end(x, r)
}

// Leave says that both connections are closed; only the first call counts. Without an End before
// it, the viewer left. Once its last session has ended, the token can be used again for a while.
func (x *Session) Leave() {
	x.state().mu.Lock()
	x.state().end(x, ReasonViewer)
	first := !x.left
	x.left = true
	x.state().mu.Unlock()
	if !first {
		return
	}
	if h := x.state().shared; h != nil {
		h.leave(x.ID)
	}
	x.Pass.service.emit(EventSessionClosed, func() map[string]any {
		data := x.data()
		data["reason"] = string(x.reason) // it changes no more
		data["seconds"] = x.stopped.Sub(x.Started).Seconds()
		data["bytes_up"] = x.Up.Load()
		data["bytes_down"] = x.Down.Load()
		return data
	})
}

func (x *Session) data() map[string]any {
	return map[string]any{
		"tenant": x.Pass.Workstation.Tenant, "workstation": x.Pass.Workstation.Name, "session": x.ID,
		"token": x.Pass.TokenID, "key": x.Pass.Key, "viewer": x.Viewer.String(), "security": x.Security,
	}
}

// Format prints the ID only.
func (x *Session) Format(f fmt.State, _ rune) { fmt.Fprint(f, x.ID) }
