package workstation

import "time"

// Revoke ends the tokens and sessions for which a key of a tenant has asked.
func (s *State) Revoke(tenant, key string) { s.RevokeAt(tenant, key, s.now()) }

// RevokeAt is Revoke at a time: the key has another end than when it asked. Where tokens and sessions
// end earlier by themselves it changes nothing.
func (s *State) RevokeAt(tenant, key string, end time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	over := !now.Before(end)
	by := func(i Issuer) bool { return i.Tenant == tenant && i.Key == key }
	for _, p := range s.entries {
		for _, x := range p.sessions { // the token of some is dead
			switch {
			case !by(x.Pass.Issuer):
			case over:
				s.end(x, ReasonRemoved)
			case end.Before(x.Pass.token.until):
				x.endIn(end.Sub(now))
			}
		}
	}
	for _, t := range s.tokens.live {
		switch {
		case !by(t.issuer):
		case over:
			s.retire(t, revoked)
		case end.Before(t.until):
			t.until = end
			if end.Before(t.deadline) {
				t.deadline = end
			}
		}
	}
}

// endIn ends an open session after a time, even if its own end is later. A second call replaces the
// first; mu is held.
func (x *Session) endIn(after time.Duration) {
	if x.early != nil {
		x.early.Stop()
	}
	x.early = time.AfterFunc(after, func() { x.End(ReasonRemoved) })
}
