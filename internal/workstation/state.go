package workstation

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// State outlives configurations: tokens by hash, sessions, registrations and
// release marks. It is cheap to make: no file, no goroutine.
type State struct {
	now   func() time.Time
	desks atomic.Int64              // made so far: numbers them in the order of their making
	turns [turnstiles]chan struct{} // one change in storage at a time for a workstation

	mu         sync.Mutex // guards the following, and every place, token and session
	places     map[ID]*place
	tokens     map[hash]*token   // may hold some that have expired and are not swept yet
	prefixes   map[string]*token // of those with a prefix
	graves     graves            // tokens that died
	backoffs   map[ID]backoff    // workstations that refused the gateway
	logins     map[ID]*login     // and its logins to them
	sessions   int               // open ones
	registered map[string]int    // records of run-time workstations by tenant
	sweepAt    int               // number of tokens at which the next Issue sweeps all
	pruneAt    time.Time         // the next look for old records
	committed  *Desk             // the desk of the last Commit
	latest     int64             // number of the newest desk that was made before the last Commit
	allowed    func(by Issuer) bool
}

// place is one workstation as State knows it. It is in State.places while it
// has a record, a token or a session.
type place struct {
	id       ID
	known    bool   // there is a record
	record   record // registration or release mark
	unsaved  bool   // storage does not have this record, or may not
	changes  int    // of record
	tokens   []*token
	sessions map[string]*Session
}

// released tells whether nobody may come in.
func (p *place) released() bool { return p != nil && p.known && !p.record.ReleasedAt.IsZero() }

// registered tells whether the place was registered at run time.
func (p *place) registered() bool { return p != nil && p.known && p.record.Address != "" }

// NewState returns an empty State. now is time.Now outside tests.
func NewState(now func() time.Time) *State {
	s := &State{
		now:        now,
		places:     make(map[ID]*place),
		tokens:     make(map[hash]*token),
		prefixes:   make(map[string]*token),
		backoffs:   make(map[ID]backoff),
		logins:     make(map[ID]*login),
		registered: make(map[string]int),
		sweepAt:    minSweep,
	}
	for i := range s.turns {
		s.turns[i] = make(chan struct{}, 1)
	}
	return s
}

// Format prints nothing: a State knows beginnings of tokens.
func (s *State) Format(f fmt.State, _ rune) { opaque(f, "workstation state") }

// place returns the place of id, which it makes where there is none; mu is held.
func (s *State) place(id ID) *place {
	p := s.places[id]
	if p == nil {
		p = &place{id: id, sessions: make(map[string]*Session)}
		s.places[id] = p
	}
	return p
}

// tidy forgets a place that nothing holds; mu is held.
func (s *State) tidy(p *place) {
	if !p.known && len(p.tokens) == 0 && len(p.sessions) == 0 {
		delete(s.places, p.id)
	}
}

// setRecord puts a record in force; mu is held.
func (s *State) setRecord(p *place, r record, unsaved bool) {
	s.count(p, -1)
	p.known, p.record, p.unsaved = true, r, unsaved
	p.changes++
	s.count(p, +1)
}

// dropRecord forgets a record; mu is held.
func (s *State) dropRecord(p *place) {
	s.count(p, -1)
	p.known, p.record, p.unsaved = false, record{}, false
	p.changes++
	s.tidy(p)
}

func (s *State) count(p *place, n int) {
	if !p.registered() {
		return
	}
	if s.registered[p.id.Tenant] += n; s.registered[p.id.Tenant] == 0 {
		delete(s.registered, p.id.Tenant)
	}
}

// Commit says that d is now in force and the configurations before it are not:
// tokens and sessions of workstations or keys that it does not have end.
// Workstations registered at run time stay. allowed tells whether a token of
// this issuer may live on (nil: all may); it is called with a lock held and must
// not call back. A nil desk has no workstations.
func (s *State) Commit(d *Desk, allowed func(by Issuer) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.committed, s.allowed, s.latest = d, allowed, s.desks.Load()
	if d != nil {
		s.latest = d.number
	}
	for _, t := range s.tokens {
		if !s.inForce(d, t.place.id, t.issuer) {
			s.kill(t, revoked)
		}
	}
	for _, p := range s.places {
		for _, x := range p.sessions {
			if !s.inForce(d, p.id, x.Issuer) {
				s.end(x, ReasonRemoved)
			}
		}
	}
	if d == nil || !d.policy.VNCAuth {
		for prefix, t := range s.prefixes {
			t.prefix = ""
			delete(s.prefixes, prefix)
		}
	}
}

// inForce tells whether d and the committed keys still have workstation and
// issuer; mu is held.
func (s *State) inForce(d *Desk, id ID, by Issuer) bool {
	return d != nil && d.has(id) && (s.allowed == nil || s.allowed(by))
}

// Open is the number of open sessions.
func (s *State) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions
}

// EndAll ends every session; tokens stay. A shutdown closes its listeners first.
func (s *State) EndAll(r Reason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.places {
		s.endAt(p, r)
	}
}

// endAt ends the sessions at a place and tells how many they were; mu is held.
func (s *State) endAt(p *place, r Reason) int {
	n := len(p.sessions)
	for _, x := range p.sessions {
		s.end(x, r)
	}
	return n
}

// kill ends a token, not its sessions; mu is held.
func (s *State) kill(t *token, why death) {
	if t.dead != alive {
		return
	}
	t.dead = why
	delete(s.tokens, t.hash)
	if t.prefix != "" {
		delete(s.prefixes, t.prefix)
	}
	p := t.place
	for i, other := range p.tokens {
		if other == t {
			p.tokens = slices.Delete(p.tokens, i, i+1)
			break
		}
	}
	s.graves.bury(t.hash, why, s.now())
	s.tidy(p)
}

// minSweep is the number of tokens below which sweeping all is not worth it.
const minSweep = 64

// sweep buries what has expired at id, and everywhere once the number of tokens
// has doubled since it last did: amortised constant time for a token. mu is held.
func (s *State) sweep(id ID, now time.Time) {
	if len(s.tokens) >= s.sweepAt {
		for _, t := range s.tokens {
			s.expire(t, now)
		}
		s.sweepAt = max(minSweep, 2*len(s.tokens))
		return
	}
	p := s.places[id]
	if p == nil {
		return
	}
	for i := len(p.tokens) - 1; i >= 0; i-- { // expire takes them out
		s.expire(p.tokens[i], now)
	}
}

func (s *State) expire(t *token, now time.Time) {
	if !t.live(now) {
		s.kill(t, expired)
	}
}

// endOverdue ends sessions whose relay has not seen their end; mu is held.
func (s *State) endOverdue(p *place, now time.Time) {
	for _, x := range p.sessions {
		if !now.Before(x.until) {
			s.end(x, ReasonMaxDuration)
		}
	}
}
