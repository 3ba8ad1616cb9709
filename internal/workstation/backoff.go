package workstation

import "time"

// backoff is a workstation that is not asked for a while.
type backoff struct {
	number int64 // the number of the configuration that was refused: another may know a better password
	until  time.Time
	why    RefusalCode
}

// BackOff leaves a workstation alone for a while, because it refused the gateway's
// login: Xvnc shuts an address out that fails five times, and all viewers come
// from the gateway's. Viewers that come in that time are refused with why.
func (d *Service) BackOff(id ID, why RefusalCode, during time.Duration) {
	s := d.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.has(id) { // so that there are no more of them than workstations
		s.backoffs[id] = backoff{d.number, s.now().Add(during), why}
	}
}

// ask ends the time in which a workstation is left alone, and forgets that its
// password was right.
func (d *Service) ask(id ID) {
	s := d.state
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.backoffs, id)
	if l := s.logins[id]; l != nil {
		l.provedBy = 0
	}
}

// Backoff reports whether a workstation is left alone now, and why.
func (d *Service) Backoff(id ID) (why RefusalCode, ok bool) {
	s := d.state
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.backoffs[id]
	if !ok {
		return "", false
	}
	if b.number != d.number || !s.now().Before(b.until) {
		delete(s.backoffs, id)
		return "", false
	}
	return b.why, true
}
