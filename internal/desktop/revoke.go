package desktop

import "time"

// Revoke ends the tokens and sessions for which a key of a tenant has asked.
func (s *State) Revoke(tenant, key string) { s.RevokeAt(tenant, key, s.now()) }

// RevokeAt is Revoke at a time: the key has another end than when it asked. Where tokens and sessions
// end earlier by themselves it changes nothing.
func (s *State) RevokeAt(tenant, key string, end time.Time) {
	s.revoke(func(t *token) bool { return t.issuer.Tenant == tenant && t.issuer.Key == key }, end)
	if s.shared != nil {
		s.shared.revoke(tenant, key, end)
	}
}

// RevokedElsewhere ends at a time the sessions of this gateway for which a key has asked up to
// issued. It is for a change that another gateway has made, and has told the engine of: nothing is
// told here, as a later message would reach tokens that the key has asked for since.
func (s *State) RevokedElsewhere(tenant, key string, issued, end time.Time) {
	if s.shared != nil {
		s.shared.Revoked(Revocation{Tenant: tenant, Key: key, Before: issued.UnixMicro(), End: end})
	}
}

// revoke ends tokens of this gateway, and their sessions.
func (s *State) revoke(by func(*token) bool, end time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endByKey(by, end)
	now := s.now()
	over := !now.Before(end)
	for _, t := range s.tokens.live {
		switch {
		case !by(t):
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

// endByKey ends the sessions of some tokens; mu is held.
func (s *State) endByKey(by func(*token) bool, end time.Time) {
	now := s.now()
	for _, p := range s.entries {
		for _, x := range p.sessions { // the token of some is dead
			t := x.Pass.token
			switch {
			case !by(t):
			case !now.Before(end):
				s.end(x, ReasonRemoved)
			case end.Before(t.until):
				x.endIn(end.Sub(now))
				if s.shared != nil || t.dead != alive { // no other session has the token
					t.until = end
				}
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
