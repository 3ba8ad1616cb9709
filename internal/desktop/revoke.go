package desktop

import (
	"context"
	"time"
)

// Revoke ends the tokens and sessions for which a key of a tenant has asked.
func (s *State) Revoke(tenant, key string) { s.RevokeAt(tenant, key, s.now()) }

// RevokeAt is Revoke at a time: the key has another end than when it asked. Where tokens and sessions
// end earlier by themselves it changes nothing.
func (s *State) RevokeAt(tenant, key string, end time.Time) {
	s.RevokedElsewhere(tenant, key, s.now(), end)
	revoke := s.revoker(tenant, key, end)
	ctx, cancel := message()
	defer cancel()
	if revoke(ctx) != nil {
		s.sessions.queueRetry(revoke)
	}
}

// RevokedElsewhere ends at a time the sessions of this gateway for which a key has asked up to
// issued. It is for a change that another gateway has made, and has told the store of: nothing is
// told here, as a later message would reach tokens that the key has asked for since.
func (s *State) RevokedElsewhere(tenant, key string, issued, end time.Time) {
	now := s.now()
	for _, x := range s.sessions.of() {
		t := x.token()
		switch {
		case t.Issuer.Tenant != tenant || t.Issuer.Key != key || t.Issued.After(issued):
		case !now.Before(end):
			x.End(ReasonRemoved)
		default:
			x.endIn(end, now)
		}
	}
}

// revoker returns what ends the tokens of a key in all gateways. After an error it can be called again,
// and goes on where it stopped.
func (s *State) revoker(tenant, key string, end time.Time) func(ctx context.Context) error {
	var left []ID
	var known bool
	return func(ctx context.Context) (err error) {
		if !known {
			if left, err = s.sessions.store.IssuedTo(ctx, tenant, key); err != nil {
				return err
			}
			known = true
		}
		for ; len(left) > 0; left = left[1:] {
			if err := s.sessions.apply(ctx, left[0], func(w *Workstation) { w.revoke(key, end, s.now()) }); err != nil {
				return err
			}
		}
		return nil
	}
}
