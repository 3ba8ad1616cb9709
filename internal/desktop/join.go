package desktop

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
)

// Pass is a live token that Find has seen. It can be joined once.
type Pass struct {
	Workstation ID
	Target      *Target // nil before Locate where a source says where it is
	Issuer
	TokenID string
	Guest   Guest        // of which session, if of one
	Rules   SessionRules // of all levels, when it was found
	Shared  bool         // may share the workstation, by the token or by the policy
	// Withdrawn reports whether the viewer may not join any more; nil: it may. It must not call back.
	Withdrawn func() bool

	unlisted  bool // see Preview
	token     *Token
	source    *Source   // that is asked where the workstation is; nil: it is known
	refreshed time.Time // answers of the source from before do not count
	question  guest.Question
	look      RefusalCode // what Join would have said when it was found
	service   *Service    // that found it
}

func (p *Pass) withdrawn() bool { return p.Withdrawn != nil && p.Withdrawn() }

// Format prints the workstation and the token's name.
func (p Pass) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "%s %s", p.Workstation, p.TokenID) }

// Look returns the refusal that Join would have given the pass when it was found, nil if none: the
// workstation need not be dialled for a viewer that cannot stay. Join decides.
func (p *Pass) Look() *Refusal {
	if p.look == "" {
		return nil
	}
	return NewRefusal(p.look)
}

// Join opens the session of the pass. It checks the token again, then release, pinning, the rule for
// conflicts and the limit of sessions, in one step. It is the token's first use. The workstation's own
// handshake should be done before. security names for lists and records how the viewer showed its
// token. Every error is a [*Refusal], or internal where randomness fails.
func (p *Pass) Join(viewer netip.AddrPort, security string) (*Session, error) {
	id, err := newSessionID(p.service.random)
	if err != nil {
		return nil, err
	}
	s := p.service.state.sessions
	x := &Session{
		ID: id, Workstation: p.Workstation, sessions: s, emit: p.service.emit, ended: make(chan struct{}),
	}
	policy := &p.service.config.policy
	x.Input = &Input{
		session: id, at: p.Workstation, returnAfter: policy.ReturnAfter, agentsLook: policy.ScreenshotsDuringHold,
		sessions: s, emit: p.service.emit,
	}
	record := SessionRecord{
		ID: id, Token: p.token, Node: s.store.Node(), Security: security, Shared: p.Shared, Rules: p.Rules,
		Viewer:    netip.AddrPortFrom(viewer.Addr().Unmap(), viewer.Port()),
		Reconnect: p.service.config.policy.ReconnectWithin,
	}
	record.Rules.Automation = 0 // see token
	x.record = record
	if p.unlisted {
		x.kind, x.Started, x.record.Until = preview, s.now(), p.token.until(p.Rules.MaxDuration)
	}
	s.add(x) // it hears of its end from now on
	if p.unlisted {
		err = p.peek(x)
	} else {
		err = p.join(x, record)
	}
	if err != nil {
		s.remove(x)
		return nil, err
	}
	if p.unlisted {
		return x, nil
	}
	x.emit(EventSessionOpened, x.data)
	return x, nil
}

// join opens a session in the store.
func (p *Pass) join(x *Session, record SessionRecord) error {
	state, s, viewer := p.service.state, x.sessions, plain(record.Viewer.Addr())
	generation, err := state.judge(p.service.config, p.Workstation, p.token, viewer)
	if err != nil {
		return err
	}
	terms := p.service.config.terms(viewer, generation)
	ctx, cancel := message()
	defer cancel()
	var stored SessionRecord
	err = s.update(ctx, p.Workstation, func(c *Change) (err error) {
		if there := c.After.session(x.ID); there != nil { // the answer of the first try was lost
			stored = *there
			return nil
		}
		if p.withdrawn() { // before it replaces anybody
			return refuse(RefusedRevoked)
		}
		opening := record
		c.Most, err = c.After.join(&opening, &terms, s.now())
		stored = opening
		return err
	})
	var refusal *Refusal
	switch {
	case errors.Is(err, errGone):
		return p.gone(ctx)
	case errors.As(err, &refusal):
		return err
	case err != nil:
		return refuse(RefusedUnavailable) // if the store has it, the next beat takes it out
	}
	if why := x.open(stored, s.now()); why != "" {
		_ = s.leaveStored(ctx, "", p.Workstation, x.ID) // see Beat
		return refuse(endedMeanwhile(why))
	}
	return nil
}

// gone is the refusal of a token that died after it was found.
func (p *Pass) gone(ctx context.Context) error {
	found, err := p.service.state.sessions.store.Find(ctx, Shown{Hash: p.token.Hash})
	if err != nil || found.Code == "" {
		return refuse(RefusedUnavailable)
	}
	return refuse(found.Code)
}

// endedMeanwhile is the refusal of a session that ended before the store had answered.
func endedMeanwhile(why Reason) RefusalCode {
	switch why {
	case ReasonReleased:
		return RefusedReleased
	case ReasonReplaced:
		return RefusedBusy
	case ReasonHostLeft:
		return RefusedHostLeft
	case ReasonShutdown:
		return RefusedShutdown
	case ReasonEngineLost:
		return RefusedUnavailable
	}
	return RefusedRevoked
}
