package desktop

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
	now      func() time.Time
	services atomic.Int64              // made so far: numbers them in the order of their making
	turns    [turnstiles]chan struct{} // one change in storage at a time for a workstation

	logins logins
	shared *Sharing // nil: this gateway is the only one

	mu         sync.Mutex // guards the following, and every entry, token and session
	entries    map[ID]*entry
	tokens     tokenTable
	sessions   int            // open ones
	registered map[string]int // records of run-time workstations by tenant
	pruneAt    time.Time      // the next search for old records
	committed  *Service       // the service of the last Commit
	latest     int64          // number of the newest service that was made before the last Commit
	allowed    func(by Issuer) bool
}

// entry is one workstation as State knows it. It is in State.entries while it
// has a record, a token or a session.
type entry struct {
	id              ID
	known           bool   // there is a record
	record          record // registration or release mark
	unsaved         bool   // storage does not have this record, or may not
	changes         int    // of record
	seq, generation int64  // of the record, where gateways share it: see StoredRecord
	tokens          []*token
	sessions        map[string]*Session
}

// released reports whether the workstation is released.
func (p *entry) released() bool { return p != nil && p.known && !p.record.ReleasedAt.IsZero() }

// registered reports whether the workstation was registered at run time.
func (p *entry) registered() bool { return p != nil && p.known && p.record.Address != "" }

// NewState returns an empty State. now is time.Now outside tests.
func NewState(now func() time.Time) *State {
	s := &State{
		now:        now,
		entries:    make(map[ID]*entry),
		tokens:     newTokenTable(),
		registered: make(map[string]int),
		logins:     logins{now: now, byID: make(map[ID]*login)},
	}
	for i := range s.turns {
		s.turns[i] = make(chan struct{}, 1)
	}
	return s
}

// Format prints nothing: a State knows beginnings of tokens.
func (s *State) Format(f fmt.State, _ rune) { opaque(f, "workstation state") }

// entry returns the entry of id, which it makes if there is none; mu is held.
func (s *State) entry(id ID) *entry {
	p := s.entries[id]
	if p == nil {
		p = &entry{id: id, sessions: make(map[string]*Session)}
		s.entries[id] = p
	}
	return p
}

// look returns the entry of id, or one that is in no table; mu is held.
func (s *State) look(id ID) *entry {
	if p := s.entries[id]; p != nil {
		return p
	}
	return &entry{id: id}
}

// tidy forgets an entry without record, token and session; mu is held.
func (s *State) tidy(p *entry) {
	if !p.known && len(p.tokens) == 0 && len(p.sessions) == 0 {
		delete(s.entries, p.id)
	}
}

// setRecord makes a record the entry's own; mu is held.
func (s *State) setRecord(p *entry, r record, unsaved bool) {
	s.count(p, -1)
	p.known, p.record, p.unsaved = true, r, unsaved
	p.changes++
	s.count(p, +1)
}

// dropRecord forgets a record; mu is held.
func (s *State) dropRecord(p *entry) {
	s.count(p, -1)
	p.known, p.record, p.unsaved = false, record{}, false
	p.changes++
	s.tidy(p)
}

func (s *State) count(p *entry, n int) {
	if !p.registered() {
		return
	}
	if s.registered[p.id.Tenant] += n; s.registered[p.id.Tenant] == 0 {
		delete(s.registered, p.id.Tenant)
	}
}

// Commit makes w the current configuration, in place of those before it: tokens and sessions of
// workstations or keys that it does not have end. Workstations registered at run time stay. allowed
// reports whether a token of this issuer may stay (nil: all may); it is called with a lock held and
// must not call back. A nil service has no workstations.
func (s *State) Commit(w *Service, allowed func(by Issuer) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.committed, s.allowed, s.latest = w, allowed, s.services.Load()
	if w != nil {
		s.latest = w.number
	}
	for _, t := range s.tokens.live {
		if !s.current(w, t.entry.id, t.issuer) {
			s.retire(t, revoked)
		}
	}
	for _, p := range s.entries {
		for _, x := range p.sessions {
			if !s.current(w, p.id, x.Pass.Issuer) {
				s.end(x, ReasonRemoved)
			}
		}
	}
	if w == nil || !w.policy.VNCAuth {
		s.tokens.dropPrefixes()
	}
}

// current reports whether w and the committed keys still have workstation and issuer; mu is held.
func (s *State) current(w *Service, id ID, by Issuer) bool {
	return w != nil && w.has(id) && (s.allowed == nil || s.allowed(by))
}

// overtaken reports whether a later configuration is current that has dropped the workstation or
// the key: a request of an earlier one may still be under way. mu is held.
func (s *State) overtaken(w *Service, id ID, by Issuer) bool {
	return w.number <= s.latest && w != s.committed && !s.current(s.committed, id, by)
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
	for _, p := range s.entries {
		s.endAt(p, r, "")
	}
}

// endAt ends the sessions of an entry and returns how many there were; mu is held.
func (s *State) endAt(p *entry, r Reason, by string) int {
	n := len(p.sessions)
	for _, x := range p.sessions {
		s.endBy(x, r, by)
	}
	return n
}

// endByHand ends a session and withdraws its token; mu is held.
func (s *State) endByHand(x *Session, by string) {
	s.retire(x.Pass.token, revoked)
	s.endBy(x, ReasonEnded, by)
}

// close ends the sessions and tokens of an entry that was released by a key, "" for an unknown one, and
// returns how many sessions there were; mu is held.
func (s *State) close(p *entry, by string) int {
	n := s.endAt(p, ReasonReleased, by)
	for len(p.tokens) > 0 {
		s.retire(p.tokens[0], released)
	}
	return n
}

// retire ends a token, not its sessions; mu is held.
func (s *State) retire(t *token, why tokenState) {
	if t.dead != alive {
		return
	}
	p := t.entry
	s.tokens.remove(t, why, s.now())
	p.tokens = slices.DeleteFunc(p.tokens, func(other *token) bool { return other == t })
	s.tidy(p)
}

// sweep retires what has expired at id, and everywhere once the number of tokens has doubled since
// it last did: amortised constant time for each token. mu is held.
func (s *State) sweep(id ID, now time.Time) {
	if s.tokens.dueForSweep() {
		for _, t := range s.tokens.live {
			s.expire(t, now)
		}
		s.tokens.swept()
		return
	}
	p := s.entries[id]
	if p == nil {
		return
	}
	for i := len(p.tokens) - 1; i >= 0; i-- { // expire takes them out
		s.expire(p.tokens[i], now)
	}
}

func (s *State) expire(t *token, now time.Time) {
	if !t.live(now) {
		s.retire(t, expired)
	}
}

// endOverdue ends sessions whose relay has not seen their end; mu is held.
func (s *State) endOverdue(p *entry, now time.Time) {
	for _, x := range p.sessions {
		if !now.Before(x.Pass.token.until) {
			s.end(x, ReasonMaxDuration)
		}
	}
}
