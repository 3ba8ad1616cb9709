package desktop

import (
	"context"
	"time"
)

// join opens a session in the engine. Meanwhile it is in the tables without its time of beginning, so
// that it hears of its end.
func (h *Sharing) join(x *Session) error {
	s, p := h.state, x.Pass
	t := p.token
	s.mu.Lock()
	err := h.judge(p.service, t, x.Viewer.Addr())
	if err == nil && p.withdrawn() {
		err = refuse(RefusedRevoked)
	}
	if err != nil {
		s.mu.Unlock()
		return err
	}
	t.entry = s.entry(p.Workstation)
	t.open++
	t.entry.sessions[x.ID] = x
	s.sessions++
	terms, wanted := h.terms(p.service, x.Viewer.Addr(), t.entry.generation), x.share()
	s.mu.Unlock()

	ctx, cancel := message()
	defer cancel()
	joined, err := h.engine.Join(ctx, wanted, terms)

	s.mu.Lock()
	code := joined.Code
	switch ended := x.reason; {
	case err != nil:
		code = RefusedUnavailable // if the engine has it, the next beat takes it out
	case code != "":
	case ended != "":
		code = endedMeanwhile(ended)
	default:
		x.Started, t.until, t.client = joined.Started, joined.Until, plain(x.Viewer.Addr())
		for _, id := range joined.Replaced {
			if other := t.entry.sessions[id]; other != nil {
				s.replace(other, x)
			}
		}
		s.mu.Unlock()
		return nil
	}
	s.end(x, ReasonViewer)
	s.mu.Unlock()
	if err == nil && joined.Code == "" {
		h.leave(x.ID)
	}
	return refuse(code)
}

// endedMeanwhile is the refusal of a session that ended before the engine had answered.
func endedMeanwhile(why Reason) RefusalCode {
	switch why {
	case ReasonReleased:
		return RefusedReleased
	case ReasonReplaced:
		return RefusedBusy
	case ReasonShutdown:
		return RefusedShutdown
	case ReasonEngineLost:
		return RefusedUnavailable
	}
	return RefusedRevoked
}

// leave tells the engine that a session is over. If it is not told, the next beat is.
func (h *Sharing) leave(id string) {
	ctx, cancel := message()
	defer cancel()
	_ = h.engine.Leave(ctx, id) // see Beat
}

// Ended ends sessions of this gateway: elsewhere one of them was replaced, or ended by hand, or their
// workstation was released, by a key, "" for an unknown one. Those of other gateways are none of its.
func (h *Sharing) Ended(at ID, why Reason, by string, sessions ...string) {
	s := h.state
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.entries[at]
	if p == nil {
		return
	}
	for _, id := range sessions {
		if x := p.sessions[id]; x != nil {
			s.endBy(x, why, by)
		}
	}
}

// Revoked ends the sessions of this gateway whose key was revoked, here or elsewhere.
func (h *Sharing) Revoked(r Revocation) {
	h.forget(r)
	h.state.mu.Lock()
	defer h.state.mu.Unlock()
	h.state.endByKey(func(t *token) bool { return r.reaches(t.issuer, t.issued) }, r.End)
}

// revoke ends the tokens of a key in all gateways.
func (h *Sharing) revoke(tenant, key string, end time.Time) {
	send := func(ctx context.Context) error { return h.engine.Revoke(ctx, tenant, key, end) }
	ctx, cancel := message()
	defer cancel()
	if send(ctx) != nil {
		h.again(send)
	}
}

// endByHand ends a session wherever it is, and revokes its token.
func (h *Sharing) endByHand(id ID, session, key string) (found bool, err error) {
	s := h.state
	s.mu.Lock()
	p := s.entries[id]
	here := p != nil && p.sessions[session] != nil
	s.mu.Unlock()
	ctx, cancel := message()
	defer cancel()
	found, err = h.engine.End(ctx, id, session, key)
	if !here {
		if err != nil {
			return false, errNoEngine(err)
		}
		return found, nil
	}
	h.Ended(id, ReasonEnded, key, session)
	if err != nil {
		h.again(func(ctx context.Context) error {
			_, err := h.engine.End(ctx, id, session, key)
			return err
		})
	}
	return true, nil
}

// open returns the open sessions of this gateway.
func (h *Sharing) open() (open []*SharedSession) {
	s := h.state
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.entries {
		for _, x := range p.sessions {
			if !x.opening() {
				open = append(open, x.share())
			}
		}
	}
	return open
}

// opening reports whether the engine has not answered yet; mu is held.
func (x *Session) opening() bool { return x.Started.IsZero() }

// share is what other gateways know of a session; mu is held.
func (x *Session) share() *SharedSession {
	return &SharedSession{SessionView: x.view(), Token: x.Pass.token.share(), Reconnect: x.Pass.service.policy.ReconnectWithin}
}

// elsewhere returns what other gateways have at some workstations, nil for all: for lists, which show
// what this gateway has if the engine does not answer.
func (h *Sharing) elsewhere(ids []ID) map[ID]Desk {
	ctx, cancel := message()
	defer cancel()
	desks, err := h.engine.Desks(ctx, ids)
	if err != nil {
		return nil
	}
	byID := make(map[ID]Desk, len(desks))
	for _, d := range desks {
		byID[d.ID] = d
	}
	return byID
}
