// Package memory has the tokens and sessions of a gateway that is alone.
package memory

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// minSweep is the number of tokens below which sweeping all is not worth it.
const minSweep = 64

// Store implements [desktop.Store].
type Store struct {
	now func() time.Time

	mu           sync.Mutex // guards the following
	workstations map[desktop.ID]*desktop.Workstation
	tokens       map[desktop.Hash]desktop.ID // some may have expired and are not swept yet
	prefixes     map[string]desktop.Hash
	dead         tombstones
	sessions     int    // open ones
	version      uint64 // of the last change
	sweepAt      int    // number of tokens at which the next change sweeps all
}

// New returns an empty store. now is time.Now outside tests.
func New(now func() time.Time) *Store {
	return &Store{
		now: now, workstations: make(map[desktop.ID]*desktop.Workstation),
		tokens: make(map[desktop.Hash]desktop.ID), prefixes: make(map[string]desktop.Hash), sweepAt: minSweep,
	}
}

// NewState returns a State over a new store.
func NewState(now func() time.Time) *desktop.State { return desktop.NewState(now, New(now)) }

// Find implements [desktop.Store].
func (s *Store) Find(_ context.Context, shown desktop.Shown) (f desktop.Found, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := shown.Hash
	if shown.Prefix != "" {
		hash = s.prefixes[shown.Prefix]
	}
	id, live := s.tokens[hash]
	if !live && shown.Prefix != "" {
		return desktop.Found{Code: s.dead.statePrefix(shown.Prefix, s.now())}, nil
	}
	if !live {
		return desktop.Found{Code: s.dead.state(hash, s.now())}, nil
	}
	w := s.workstations[id]
	return desktop.Found{Workstation: w, Token: w.Token(hash), Sessions: s.sessions}, nil
}

// Load implements [desktop.Store].
func (s *Store) Load(_ context.Context, ids ...desktop.ID) ([]*desktop.Workstation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*desktop.Workstation, len(ids))
	for i, id := range ids {
		if all[i] = s.workstations[id]; all[i] == nil {
			all[i] = &desktop.Workstation{ID: id}
		}
	}
	return all, nil
}

// Open implements [desktop.Store].
func (s *Store) Open(context.Context, ...desktop.ID) ([]*desktop.Workstation, error) { return nil, nil }

// Swap implements [desktop.Store].
func (s *Store) Swap(_ context.Context, c *desktop.Change) (desktop.Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var version uint64
	if w := s.workstations[c.After.ID]; w != nil {
		version = w.Version
	}
	issued := c.Issued()
	switch {
	case version != c.Before.Version:
		return desktop.Changed, nil
	case slices.ContainsFunc(issued, s.taken):
		return desktop.Taken, nil
	case c.Most > 0 && s.sessions >= c.Most:
		return desktop.Full, nil
	}
	s.store(c)
	if len(issued) > 0 && len(s.tokens) >= s.sweepAt {
		s.sweep()
	}
	return desktop.Stored, nil
}

// taken reports whether a viewer could mean another token by t.
func (s *Store) taken(t *desktop.Token) bool {
	_, same := s.tokens[t.Hash]
	_, alike := s.prefixes[t.Prefix]
	return same || alike
}

// store is called with mu held.
func (s *Store) store(c *desktop.Change) {
	w := c.After
	for _, t := range c.Before.Tokens {
		if now := w.Token(t.Hash); now == nil || now.Prefix != t.Prefix {
			delete(s.prefixes, t.Prefix)
		}
	}
	for _, t := range w.Dead {
		delete(s.tokens, t.Hash)
		s.dead.add(t.Hash, t.Prefix, t.Why, s.now())
	}
	for _, t := range c.Issued() {
		s.tokens[t.Hash] = w.ID
		if t.Prefix != "" {
			s.prefixes[t.Prefix] = t.Hash
		}
	}
	s.sessions += len(c.Opened()) - len(c.Closed())
	s.version++
	w.Version = s.version
	if len(w.Tokens) == 0 && len(w.Sessions) == 0 && !w.Shut && w.Hold.Idle() {
		delete(s.workstations, w.ID)
	} else {
		s.workstations[w.ID] = w
	}
}

// sweep takes out everywhere what has expired: amortised constant time for each token. mu is held.
func (s *Store) sweep() {
	for _, w := range s.workstations {
		if swept := w.Swept(s.now()); len(swept.Dead) > 0 {
			s.store(&desktop.Change{Before: w, After: swept})
		}
	}
	s.sweepAt = max(minSweep, 2*len(s.tokens))
}

// Prefixes implements [desktop.Store]: all of live tokens, then some of those that died a short while
// ago.
func (s *Store) Prefixes(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dead := s.dead.recent(s.now())
	prefixes := make([]string, 0, len(s.prefixes)+len(dead))
	for prefix := range s.prefixes { // expired ones get their own refusal
		prefixes = append(prefixes, prefix)
	}
	return append(prefixes, dead...), nil
}

// IssuedTo implements [desktop.Store].
func (s *Store) IssuedTo(_ context.Context, tenant, _ string) (ids []desktop.ID, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.workstations {
		if id.Tenant == tenant {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Node implements [desktop.Store].
func (s *Store) Node() string { return "" }

// Own implements [desktop.Store].
func (s *Store) Own() (ids []desktop.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.workstations {
		ids = append(ids, id)
	}
	return ids
}

var _ desktop.Store = (*Store)(nil)
