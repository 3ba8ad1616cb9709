package workstation

import (
	"context"
	"maps"
)

// maxLogins is how many workstations are remembered whose password was right.
const maxLogins = 4096

// login is what is known of the gateway's logins to one workstation.
type login struct {
	provedBy int64         // the number of the service whose password was right
	slot     chan struct{} // capacity 1: taken by who tries, while none was right
	waiting  int           // who tries or waits
}

// Login waits until the caller may log in to a workstation. Until a service's
// password was right once, one at a time may: a crowd with a wrong one would
// have the gateway shut out (see BackOff; check Backoff afterwards). It
// fails only when ctx ends. Done is to be called with what came of it, once.
func (d *Service) Login(ctx context.Context, id ID) (done func(right bool), err error) {
	s := d.state
	s.mu.Lock()
	l := s.logins[id]
	if l == nil {
		if len(s.logins) >= maxLogins {
			maps.DeleteFunc(s.logins, func(_ ID, l *login) bool { return l.waiting == 0 })
		}
		l = &login{slot: make(chan struct{}, 1)}
		s.logins[id] = l
	}
	l.waiting++
	proved := l.provedBy == d.number
	s.mu.Unlock()
	if proved {
		return func(right bool) { d.loggedIn(id, l, right) }, nil
	}
	select {
	case l.slot <- struct{}{}:
		return func(right bool) { d.loggedIn(id, l, right); <-l.slot }, nil
	case <-ctx.Done():
		d.loggedIn(id, l, false)
		return nil, ctx.Err()
	}
}

// loggedIn notes the end of a try. What nobody asks for and nothing is known of
// is forgotten.
func (d *Service) loggedIn(id ID, l *login, right bool) {
	s := d.state
	s.mu.Lock()
	defer s.mu.Unlock()
	l.waiting--
	if l.provedBy = 0; right {
		l.provedBy = d.number
	}
	if l.waiting == 0 && l.provedBy == 0 {
		delete(s.logins, id)
	}
}
