package desktop

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// State outlives configurations: tokens by hash, sessions, registrations and
// release marks. It is cheap to make: no file, no goroutine.
type State struct {
	now      func() time.Time
	services atomic.Int64 // made so far: numbers them in the order of their making
	logins   logins
	sessions *sessions
	records  recordTable
	shared   *sharedRecords            // nil: this gateway is the only one
	turns    [turnstiles]chan struct{} // one change in storage at a time for a workstation

	mu        sync.Mutex         // guards the following; it comes before that of the records
	sources   map[string]*Source // by tenant, of the service that started last
	committed *configuration     // of the last Commit
	latest    int64              // number of the newest configuration that was made before the last Commit
	allowed   func(by Issuer) bool
}

// configuration is what a State needs of a service. It never changes.
type configuration struct {
	policy   Policy
	levels   Levels
	declared map[ID]*Target
	sources  map[string]*Source // by tenant
	number   int64              // a later configuration has a higher one
}

// NewState returns an empty State over a store of this gateway's own. now is time.Now outside tests.
func NewState(now func() time.Time, store Store) *State {
	s := &State{
		now:      now,
		sessions: newSessions(store, now),
		records:  recordTable{now: now, byID: make(map[ID]*entry), registered: make(map[string]int)},
		logins:   logins{now: now, byID: make(map[ID]*login)},
	}
	s.records.over = func(id ID) { s.sessions.endAt(id, math.MaxInt64, ReasonReleased, "") }
	for i := range s.turns {
		s.turns[i] = make(chan struct{}, 1)
	}
	return s
}

// Format prints nothing: a State knows beginnings of tokens.
func (s *State) Format(f fmt.State, _ rune) { opaque(f, "workstation state") }

// Commit makes w the current configuration, in place of those before it: tokens and sessions of
// workstations or keys that it does not have end, and agents' sessions that it does not allow. Workstations registered at run time stay. allowed
// reports whether a token of this issuer may stay (nil: all may); it is called with a lock held and
// must not call back. A nil service has no workstations.
func Commit(s *State, w *Service, allowed func(by Issuer) bool) {
	if w == nil {
		s.commit(nil, s.services.Load(), allowed)
	} else {
		s.commit(w.config, w.config.number, allowed)
	}
}

func (s *State) commit(c *configuration, number int64, allowed func(by Issuer) bool) {
	s.mu.Lock()
	s.committed, s.latest, s.allowed = c, number, allowed
	s.mu.Unlock()
	for _, x := range s.sessions.of() {
		if !s.current(x.Workstation, x.token().Issuer) || !c.lets(x) {
			x.End(ReasonRemoved)
		}
	}
	for _, id := range s.sessions.store.Own() {
		_ = s.sessions.apply(context.Background(), id, s.drop) // nobody else changes it
	}
}

// drop takes out what the current configuration does not have.
func (s *State) drop(w *Workstation) {
	now := s.now()
	for _, x := range w.open(now) {
		if !s.current(w.ID, x.Token.Issuer) {
			w.end(x, ReasonRemoved, "", now)
		}
	}
	w.retireAll(func(t *Token) RefusalCode {
		if !s.current(w.ID, t.Issuer) {
			return RefusedRevoked
		}
		return ""
	})
	s.mu.Lock()
	prefixes := s.committed != nil && s.committed.policy.VNCAuth
	s.mu.Unlock()
	for _, t := range w.Tokens {
		if t.Prefix != "" && !prefixes {
			w.change(t, func(t *Token) { t.Prefix = "" })
		}
	}
}

// current reports whether the committed configuration and keys still have workstation and issuer.
func (s *State) current(id ID, by Issuer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	return s.has(s.committed, id) && (s.allowed == nil || s.allowed(by))
}

// has reports whether a configuration has the workstation, released or not; the records are locked. A
// tenant with a source may have any.
func (s *State) has(c *configuration, id ID) bool {
	return c != nil && (c.declared[id] != nil || s.records.byID[id].registered() || c.sources[id.Tenant] != nil)
}

// overtaken reports whether a later configuration is current that has dropped the workstation or
// the key: a request of an earlier one may still be under way. Both locks are held.
func (s *State) overtaken(c *configuration, id ID, by Issuer) bool {
	return c.number <= s.latest && c != s.committed && !(s.has(s.committed, id) && (s.allowed == nil || s.allowed(by)))
}

// mayIssue returns the generation of a workstation for which a configuration may issue a token.
func (s *State) mayIssue(c *configuration, by Issuer, id ID) (generation int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	p := s.records.byID[id]
	expired, _ := p.expired(s.now())
	switch {
	case !s.has(c, id) || s.overtaken(c, id, by):
		return 0, notFound(id.Name)
	case p.released():
		return 0, errReleased(id)
	case expired:
		return 0, apierror.New(apierror.NotFound, "the registration of workstation %q has ended", id.Name)
	case p == nil:
		return 0, nil
	}
	return p.generation, nil
}

// judge returns the refusal of a live token that a configuration or the records do not let in, else
// the generation of the workstation. Each gateway judges by its own: a token of a key that a reload has
// dropped opens nothing where that was.
func (s *State) judge(c *configuration, id ID, t *Token, viewer netip.Addr) (generation int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	p := s.records.byID[id]
	if p != nil {
		generation = p.generation
	}
	_, ended := p.expired(s.now())
	switch {
	case !s.has(c, id):
		return 0, refuse(RefusedUnknown)
	case p.released() || ended || t.Generation < generation:
		return 0, refuse(RefusedReleased)
	case t.Generation > generation: // another gateway has put another machine there, or moved it
		return 0, refuse(RefusedUnavailable)
	case s.overtaken(c, id, t.Issuer), c == s.committed && s.allowed != nil && !s.allowed(t.Issuer):
		return 0, refuse(RefusedRevoked)
	case c.policy.PinClient && t.pinned(viewer):
		return 0, refuse(RefusedPinned)
	}
	return generation, nil
}

// Node is the name of this gateway among several, "" where it is the only one.
func (s *State) Node() string { return (&SessionRecord{Node: s.sessions.store.Node()}).NodeName() }

// Open is the number of open sessions, without previews.
func (s *State) Open() (n int) {
	for _, x := range s.sessions.of() {
		if x.Why() == "" && x.kind == ordinary {
			n++
		}
	}
	return n
}

// OpenBut is Open without the viewers that have shown their token in this way.
func (s *State) OpenBut(security string) (n int) {
	for _, x := range s.sessions.of() {
		if r, open := x.snapshot(); open && r.Security != security {
			n++
		}
	}
	return n
}

// EndAll ends every session; tokens stay. A shutdown closes its listeners first.
func (s *State) EndAll(r Reason) {
	for _, x := range s.sessions.of() {
		x.End(r)
	}
}

// moved has a workstation asked again at once, and ends the wait for the one before: its address or login has
// changed.
func (s *State) moved(id ID) {
	s.logins.forget(id)
	for _, x := range s.sessions.of(id) {
		if x.kind == waiting {
			x.end(ReasonReleased, "", s.now())
		}
	}
}

// catchUp has the records of other gateways in memory, if there are some.
func (s *State) catchUp(ctx context.Context) error {
	if s.shared != nil {
		return s.shared.records.CatchUp(ctx)
	}
	return nil
}
