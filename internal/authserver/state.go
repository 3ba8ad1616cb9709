package authserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// State is what outlives a configuration: who has signed in, and who is blocked. It is safe for
// concurrent use.
type State struct {
	now     func() time.Time
	bounds  *bounds
	refresh turns

	mu       sync.RWMutex // guards the following
	store    Store
	signIns  map[ID]*SignIn  // those that were ended too, until their Ends
	byPerson map[string][]ID // by the hash
	byAccess map[Sum]ID
	blocks   map[string]block // by the person; those that have ended too
	swept    time.Time
	ended    func(p Person, until time.Time)
}

// sweepEvery is how often what has ended is forgotten in memory.
const sweepEvery = 10 * time.Minute

// NewState returns a state without a store.
func NewState(now func() time.Time) *State {
	return &State{
		now: now, bounds: newBounds(), swept: now(), ended: func(Person, time.Time) {},
		signIns: map[ID]*SignIn{}, byPerson: map[string][]ID{}, byAccess: map[Sum]ID{}, blocks: map[string]block{},
	}
}

// Open reads what a store has, and follows its changes. It is called once.
func (s *State) Open(ctx context.Context, store Store) error {
	s.mu.Lock()
	s.store = store
	s.mu.Unlock()
	store.Follow(s.apply)
	return store.Load(ctx, []Kind{kindSignIn, kindBlock}, s.apply)
}

// Told has a function called, from now on instead of the one before, when a sign-in of somebody has
// ended before its time, here or at another gateway: until is zero then. If all that somebody had
// begun until a time has ended, by [State.End] or [State.Block], it is called with that time, and
// of the person only the ID is there.
func (s *State) Told(ended func(p Person, until time.Time)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = ended
}

// apply notes a record that was read or changed.
func (s *State) apply(r Record) {
	switch r.Kind {
	case kindSignIn:
		in, err := signInOf(&r)
		if err != nil {
			return // of a newer program: it is refused where it is shown
		}
		s.note(&in)
	case kindBlock:
		var b block
		if json.Unmarshal(r.Body, &b) != nil {
			return
		}
		b.version = r.Version
		s.noteBlock(b)
	case kindAttempt: // nobody looks it up by another thing than its ID
	}
}

func (s *State) noteBlock(b block) {
	s.mu.Lock()
	newer, told := b.version > s.blocks[b.Person].version, s.ended
	if newer {
		s.blocks[b.Person] = b
	}
	s.mu.Unlock()
	if !newer {
		return
	}
	until := b.Until
	if until.IsZero() {
		until = s.now()
	}
	told(Person{ID: b.Person}, until)
}

func (s *State) note(in *SignIn) {
	s.mu.Lock()
	before, now := s.signIns[in.ID], s.now()
	if before != nil && before.version >= in.version { // changes come in another order than they were made
		s.mu.Unlock()
		return
	}
	if before != nil {
		s.drop(before)
	}
	switch {
	case in.Ended: // an older record of it may still come, and must not make it good
		s.signIns[in.ID] = in
	case in.Good(now):
		s.signIns[in.ID] = in
		s.byPerson[in.Person.Hash] = append(s.byPerson[in.Person.Hash], in.ID)
		for _, t := range in.Access {
			s.byAccess[t.Sum] = in.ID
		}
	}
	if now.Sub(s.swept) > sweepEvery {
		s.swept = now
		for _, old := range s.signIns {
			if !now.Before(old.Ends) {
				s.drop(old)
			}
		}
	}
	told := s.ended
	s.mu.Unlock()
	if in.Ended && before != nil && !before.Ended {
		told(in.Person, time.Time{})
	}
}

// drop forgets a sign-in. The caller holds mu.
func (s *State) drop(in *SignIn) {
	delete(s.signIns, in.ID)
	for _, t := range in.Access {
		delete(s.byAccess, t.Sum)
	}
	left := slices.DeleteFunc(s.byPerson[in.Person.Hash], func(id ID) bool { return id == in.ID })
	if s.byPerson[in.Person.Hash] = left; len(left) == 0 {
		delete(s.byPerson, in.Person.Hash)
	}
}

// Held returns the sign-in with an access token of this SHA-256 that is good, and when that ends.
func (s *State) Held(sum Sum) (*SignIn, time.Time, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	in := s.signIns[s.byAccess[sum]]
	if in == nil {
		return nil, time.Time{}, false
	}
	return s.still(in, sum)
}

// still returns a sign-in if its access token is good now. The caller holds mu.
func (s *State) still(in *SignIn, sum Sum) (*SignIn, time.Time, bool) {
	now := s.now()
	until, ok := in.has(sum)
	if !ok || isOver(s.blocks, in.Person.ID, in.Created) || !in.Good(now) || !now.Before(until) {
		return nil, time.Time{}, false
	}
	return in, until, true
}

// Last returns the sign-in of a person, by the hash, whose access token ends last; nil if none is
// good. If such is not nil, it has a grant of which such reports true.
func (s *State) Last(hash string, such func(Grant) bool) *SignIn {
	s.mu.RLock()
	defer s.mu.RUnlock()
	now := s.now()
	var last *SignIn
	for _, id := range s.byPerson[hash] {
		in := s.signIns[id]
		good := in.Good(now) && now.Before(in.Until()) && !isOver(s.blocks, in.Person.ID, in.Created)
		if good && (such == nil || such(in.Grant)) && (last == nil || in.Until().After(last.Until())) {
			last = in
		}
	}
	return last
}

// Blocked reports whether somebody is kept out.
func (s *State) Blocked(person string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return isBlocked(s.blocks, person)
}

// KeptOut is Blocked for somebody whom the store knows nothing else of. The error wraps
// ErrUnavailable while the gateway has not learned yet who is kept out.
func (s *State) KeptOut(person string) (bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.store != nil && s.store.Loading() {
		return false, fmt.Errorf("%w: who is kept out", ErrUnavailable)
	}
	return isBlocked(s.blocks, person), nil
}

// Over reports whether what somebody began at a time is over: an operator has ended everything
// since then, or keeps the person out.
func (s *State) Over(person string, began time.Time) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return isOver(s.blocks, person, began)
}

func isOver(blocks map[string]block, person string, began time.Time) bool {
	b, ok := blocks[person]
	return ok && (b.Until.IsZero() || began.Before(b.Until))
}

func isBlocked(blocks map[string]block, person string) bool {
	b, ok := blocks[person]
	return ok && b.Until.IsZero()
}

// List returns all sign-ins that have not ended, the newest first.
func (s *State) List() []*SignIn {
	s.mu.RLock()
	defer s.mu.RUnlock()
	now := s.now()
	all := make([]*SignIn, 0, len(s.signIns))
	for _, in := range s.signIns {
		if in.Good(now) {
			all = append(all, in)
		}
	}
	slices.SortFunc(all, func(a, b *SignIn) int {
		return cmp.Or(b.Created.Compare(a.Created), slices.Compare(a.ID[:], b.ID[:]))
	})
	return all
}

// Blocks returns the people who are kept out, and since when.
func (s *State) Blocks() map[string]time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := map[string]time.Time{}
	for person, b := range s.blocks {
		if b.Until.IsZero() {
			all[person] = b.At
		}
	}
	return all
}

// change changes a record and notes it.
func (s *State) change(ctx context.Context, id ID, edit func(*Record) (Record, error)) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	var after Record
	err := s.opened().Change(ctx, id, func(before *Record) (r Record, err error) {
		if after, err = edit(before); err == nil {
			after.Version = 1
			if before != nil {
				after.Version = before.Version + 1
			}
		}
		return after, err
	})
	if err == nil {
		s.apply(after)
	}
	return err
}

func (s *State) get(ctx context.Context, id ID) (*Record, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	r, ok, err := s.opened().Get(ctx, id)
	switch {
	case err != nil && !errors.Is(err, ErrUnavailable):
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	case err != nil:
		return nil, err
	case !ok || !s.now().Before(r.Ends):
		return nil, ErrGone
	}
	return &r, nil
}

func (s *State) opened() Store {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.store
}
