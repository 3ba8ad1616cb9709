package authserver

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// block says that somebody is kept out. What the person began before it ended is over: an end of
// all that there is, is a block that has ended at once.
type block struct {
	Person string    `json:"person"`
	At     time.Time `json:"at"`
	// Until is when the block has ended; zero while it holds.
	Until time.Time `json:"until,omitzero"`

	version int64
}

// forever is how long a block is kept, and that it has ended: the next one of the person gets the
// version after it, and gateways drop a version that is not higher than the one they know.
const forever = 100 * 365 * 24 * time.Hour

// End ends all that a person has begun until now, and returns how many sign-ins there were.
func (s *State) End(ctx context.Context, p Person) (n int, err error) {
	now := s.now()
	if err := s.putBlock(ctx, block{Person: p.ID, At: now, Until: now}, now.Add(forever), true); err != nil {
		return 0, err
	}
	return endSignIns(ctx, s, p.Hash)
}

func endSignIns(ctx context.Context, s *State, hash string) (n int, err error) {
	s.mu.RLock()
	all := slices.Clone(s.byPerson[hash])
	s.mu.RUnlock()
	for _, id := range all {
		switch ended, failed := s.endOne(ctx, id); {
		case failed != nil:
			err = errors.Join(err, failed)
		case ended:
			n++
		}
	}
	return n, err
}

// endOne ends one sign-in. It reports whether it had not ended before.
func (s *State) endOne(ctx context.Context, id ID) (ended bool, err error) {
	return s.endIf(ctx, id, func(*SignIn) error { return nil })
}

// endIf is endOne that does nothing if may returns an error, which it returns.
func (s *State) endIf(ctx context.Context, id ID, may func(*SignIn) error) (ended bool, err error) {
	err = s.change(ctx, id, func(r *Record) (Record, error) {
		in, err := signInOf(r)
		if err == nil {
			err = may(&in)
		}
		if err != nil {
			return Record{}, err
		}
		ended = !in.Ended
		return in.over().record(s.now())
	})
	if errors.Is(err, ErrGone) {
		return false, nil
	}
	return ended && err == nil, err
}

// Block keeps a person out from now on, and ends the sign-ins, whose number it returns.
func (s *State) Block(ctx context.Context, p Person) (n int, err error) {
	now := s.now()
	if err := s.putBlock(ctx, block{Person: p.ID, At: now}, now.Add(forever), false); err != nil {
		return 0, err
	}
	return endSignIns(ctx, s, p.Hash)
}

// Unblock lets a person in again. It reports whether there was a block.
func (s *State) Unblock(ctx context.Context, person string) (bool, error) {
	s.mu.RLock()
	at, blocked := s.blocks[person].At, isBlocked(s.blocks, person)
	s.mu.RUnlock()
	if !blocked {
		return false, nil
	}
	now := s.now()
	return true, s.putBlock(ctx, block{Person: person, At: at, Until: now}, now.Add(forever), false)
}

// putBlock keeps a block: in the place of one that holds, or not.
func (s *State) putBlock(ctx context.Context, b block, ends time.Time, spare bool) error {
	body, err := json.Marshal(b)
	if err != nil {
		return err
	}
	id := idOf(kindBlock, b.Person)
	return s.change(ctx, id, func(r *Record) (Record, error) {
		var held block
		if r != nil && spare && json.Unmarshal(r.Body, &held) == nil && held.Until.IsZero() {
			return *r, nil
		}
		return Record{ID: id, Kind: kindBlock, Ends: ends, Body: body}, nil
	})
}

// makeRoom ends the oldest sign-ins of somebody who has many, of those that are for a resource or
// of the others.
func makeRoom(ctx context.Context, s *State, hash string, forResource bool) {
	s.mu.RLock()
	var all []*SignIn
	for _, id := range s.byPerson[hash] {
		if in := s.signIns[id]; (in.Grant.Resource != "") == forResource {
			all = append(all, in)
		}
	}
	s.mu.RUnlock()
	for len(all) >= maxOfPerson {
		oldest := 0
		for i := range all {
			if all[i].Refreshed.Before(all[oldest].Refreshed) {
				oldest = i
			}
		}
		_, _ = s.endOne(ctx, all[oldest].ID) // else there is one more
		all = append(all[:oldest], all[oldest+1:]...)
	}
}
