package desktop

import (
	"errors"
	"net/netip"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
)

// Locate asks the source of the workstation, if it has one, where it is, and sets Target. It is called
// once, before the workstation is dialled. Where the control plane is down, its last answer counts for
// a while if it is of the machine for which the token was issued. The cause of a refusal is for the log.
func (p *Pass) Locate(viewer netip.Addr) (refusal *Refusal, cause error) {
	s, t := p.source, p.token
	if s == nil {
		return nil, nil
	}
	q := question(guest.Connect, p.Workstation, t.Issuer, viewer, t.ViewOnly || t.Rules.ViewOnly)
	p.question = q
	a, err := s.Resolve(q, p.refreshed)
	if err == nil && a.Decision == guest.Allow && a.Generation != t.Machine && !t.Issued.Before(a.Asked) {
		a, err = s.Resolve(q, t.Issued) // another gateway has heard of another machine since
	}
	if err != nil {
		last, ok := s.Last(q, p.refreshed)
		if !ok || last.Generation != t.Machine {
			return NewRefusal(SourceUnavailable), err
		}
		a = last
	}
	switch {
	case a.Decision == guest.Deny:
		return &Refusal{WorkstationDenied, reasonOf(&a, WorkstationDenied)}, nil
	case a.Decision == guest.Unknown:
		return NewRefusal(RefusedRevoked), errUnknown
	case a.Decision == guest.Wait:
		return &Refusal{WorkstationStarting, reasonOf(&a, WorkstationStarting)}, nil
	case a.Generation != t.Machine:
		p.service.Sources.replaced(p.Workstation, &a)
		return NewRefusal(RefusedReleased), errMachine
	}
	at, err := p.service.Sources.place(s, p.Workstation, &a)
	if err != nil {
		return NewRefusal(SourceUnavailable), s.Reject(q, err)
	}
	p.Target, p.Rules = at.target, p.Rules.Within(at.session())
	p.Shared = p.Shared && !p.Rules.NotShared
	return nil, nil
}

var (
	errUnknown = errors.New("the source knows no such workstation any more")
	errMachine = errors.New("the source names another machine than the one for which the address was issued")
)

// replaced ends what was issued for other machines than the one of an answer.
func (x *Sources) replaced(id ID, a *guest.Answer) {
	s := x.inventory.state.sessions
	ctx, cancel := message()
	defer cancel()
	_ = s.swap(ctx, id, func(c *Change) error { return occupy(c.After, a.Generation, a.Asked, s.now()) }) // the next viewer does it
}

// Doubt has the source asked again for the next viewer: the workstation did not let the gateway in.
func (p *Pass) Doubt() {
	if p.source != nil {
		p.source.Expire(p.question)
	}
}
