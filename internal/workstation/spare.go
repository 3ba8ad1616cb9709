package workstation

import "time"

// sparing is a workstation that is left alone for a while.
type sparing struct {
	desk  int64 // the number of the desk that was refused: another may know a better password
	until time.Time
	why   string
}

// Spare leaves a workstation alone for a while, because it refused the gateway's
// login: Xvnc shuts an address out that fails five times, and the gateway's is
// everybody's. why is for whoever comes meanwhile.
func (d *Desk) Spare(id ID, why string, while time.Duration) {
	s := d.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.has(id) { // so that there are no more of them than workstations
		s.spared[id] = sparing{d.number, s.now().Add(while), why}
	}
}

// ask ends the time in which a workstation is left alone, and forgets that its
// password was right.
func (d *Desk) ask(id ID) {
	s := d.state
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.spared, id)
	if l := s.logins[id]; l != nil {
		l.proved = 0
	}
}

// Spared tells whether, and why, a workstation is left alone.
func (d *Desk) Spared(id ID) (why string, spared bool) {
	s := d.state
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.spared[id]
	if !ok {
		return "", false
	}
	if x.desk != d.number || !s.now().Before(x.until) {
		delete(s.spared, id)
		return "", false
	}
	return x.why, true
}
