package desktop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
)

// ErrChanged is returned by Records.Store for a record that is not stored: another gateway was faster.
var ErrChanged = errors.New("another gateway has changed the workstation meanwhile")

// ErrAway is wrapped by Records.CatchUp if the records cannot be read now.
var ErrAway = errors.New("the records of workstations cannot be read now")

// Records keep registrations and release marks where all gateways read them. Every change has a
// number, and a reader sees the changes in the order of their numbers.
type Records interface {
	// Store stores all of the records, and sets their numbers. If one has changed after the number that
	// it has before, none is stored: ErrChanged.
	Store(ctx context.Context, records []StoredRecord) error
	// Delete deletes a record unless it has changed after a number.
	Delete(ctx context.Context, id ID, seen int64) error
	// CatchUp returns when State.Apply has had all changes that were made before, or ErrAway.
	CatchUp(ctx context.Context) error
}

// StoredRecord is the record of a workstation as gateways share it.
type StoredRecord struct {
	ID         ID
	Value      []byte // JSON as in record.go; nil: deleted
	Released   bool   // it ends what was issued before, also where another machine is in service now
	ReleasedBy string // the key, "" where it is not known
	Seq        int64  // the number of its last change
	Generation int64  // the number of its last release, 0 before the first
}

// sharedRecords are the records that all gateways read.
type sharedRecords struct {
	records Records
	seen    atomic.Int64 // the last change that this gateway knows
	read    atomic.Bool  // all records were read once
}

// NewShared makes the tokens, sessions and records of s those of several gateways. It must be called
// before the first service starts. The store calls what it returns.
func NewShared(s *State, store Store, r Records) *Shared {
	s.sessions.store = store
	s.shared = &sharedRecords{records: r}
	return &Shared{s, s.sessions}
}

// rule is what the current configuration says of conflicts.
func (s *State) rule() Conflict {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.committed == nil {
		return Refuse
	}
	return s.committed.policy.OnConflict
}

// Apply makes a stored record that of its workstation, unless a later one is, and ends what it
// releases. It is called with all changes, in their order.
func (s *State) Apply(c StoredRecord) error {
	var r record
	if c.Value != nil {
		var err error
		if r, err = decodeRecord(c.ID.key(), c.Value); err != nil {
			return err
		}
	}
	ends, moved := s.records.apply(c, r)
	s.shared.seen.Store(max(s.shared.seen.Load(), c.Seq)) // after it: who sees the number finds the record
	if ends > 0 {
		s.sessions.endAt(c.ID, ends, ReasonReleased, c.ReleasedBy)
	}
	if moved {
		s.moved(c.ID)
	}
	return nil
}

// anyChange is the number with which a record is stored whoever has changed it.
const anyChange = math.MaxInt64

// store stores the records of plans, all or none, and applies them. It returns the numbers of their
// last releases.
func (s *State) store(ctx context.Context, plans ...plan) (generations []int64, err error) {
	records := make([]StoredRecord, len(plans))
	for i := range plans {
		n := &plans[i]
		r := StoredRecord{ID: n.record.id(), Released: n.replaces || !n.record.ReleasedAt.IsZero(), ReleasedBy: n.by, Seq: n.seen}
		if r.Value, err = n.record.encode(); err != nil {
			return nil, err
		}
		records[i] = r
	}
	if err := s.shared.records.Store(ctx, records); err != nil {
		return nil, err
	}
	for _, r := range records {
		generations = append(generations, r.Generation)
		if err := s.Apply(r); err != nil {
			return nil, err
		}
	}
	return generations, nil
}

// startShared reads the records that gateways share, see Start. While they are away, a service that comes
// after another begins with what was read before: this gateway goes on following them.
func (g *Registry) startShared(ctx context.Context) error {
	s := g.inventory.state
	err := s.shared.records.CatchUp(ctx)
	away := s.shared.read.Load() && errors.Is(err, ErrAway)
	if err != nil && !away {
		return fmt.Errorf("reading the records of workstations: %w", err)
	}
	s.shared.read.Store(true)
	s.records.adopt(g.inventory.config.declared, s.now())
	if away {
		return nil // what is not stored is stored by a later start
	}
	for _, r := range s.records.unsaved() {
		if _, err := s.store(ctx, plan{record: r, seen: anyChange}); err != nil {
			return fmt.Errorf("storing the record of workstation %s: %w", r.id(), err)
		}
	}
	return nil
}
