package runtimekeys

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// SnapshotSchema has a copy of the keys that several gateways share, for store.Options. The keys of a
// gateway that was alone stay where they are (Schema).
var SnapshotSchema = store.Schema{
	Name: "shared_keys",
	Steps: []string{`
		CREATE TABLE shared_key (
			id         BLOB    NOT NULL PRIMARY KEY,
			made       INTEGER NOT NULL,
			seq        INTEGER NOT NULL,
			tenant     TEXT    NOT NULL,
			label      TEXT    NOT NULL,
			created_at INTEGER NOT NULL,
			updated_at INTEGER NOT NULL,
			made_with  TEXT    NOT NULL,
			settings   TEXT    NOT NULL,
			secrets    BLOB    NOT NULL
		) WITHOUT ROWID;
		CREATE TABLE shared_key_snapshot (
			one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
			seq INTEGER NOT NULL, -- it has all changes up to this number
			at  INTEGER NOT NULL  -- when it was written: nanoseconds since 1970
		) WITHOUT ROWID;`,
	},
}

const (
	upsertCopy  = "INSERT OR REPLACE INTO shared_key (" + keyColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	deleteCopy  = "DELETE FROM shared_key WHERE id = ?"
	upsertState = "INSERT OR REPLACE INTO shared_key_snapshot (one, seq, at) VALUES (1, ?, ?)"
	// copyRows is how many rows an operation of the store writes: some milliseconds of work.
	copyRows = 500
)

// snapshot is a copy of all keys in the store of this node.
type snapshot struct {
	store  *store.Store
	now    func() time.Time
	logger *zap.Logger
}

var errNoSnapshot = errors.New("this node has no snapshot of the keys yet")

// load returns the keys and when they were written.
func (s *snapshot) load(ctx context.Context) (b batch, at time.Time, err error) {
	var nano int64
	err = s.store.Reader().QueryRowContext(ctx, "SELECT seq, at FROM shared_key_snapshot").Scan(&b.upTo, &nano)
	if errors.Is(err, sql.ErrNoRows) {
		return b, at, errNoSnapshot
	}
	if err != nil {
		return b, at, err
	}
	for rows, err := range store.Rows(ctx, s.store, "SELECT "+keyColumns+" FROM shared_key ORDER BY made") {
		if err != nil {
			return b, at, err
		}
		r, err := scanRecord(rows.Scan)
		if err != nil {
			return b, at, fmt.Errorf("the snapshot of the keys: %w", err)
		}
		b.versions = append(b.versions, version{key: &Key{Record: r}})
	}
	return b, timeOf(nano), nil
}

// replace makes the snapshot equal to a whole batch. Rows that it has already are not written.
func (s *snapshot) replace(ctx context.Context, b batch) error {
	have := make(map[Sum]int64)
	for rows, err := range store.Rows(ctx, s.store, "SELECT id, seq FROM shared_key") {
		if err != nil {
			return err
		}
		var id []byte
		var seq int64
		if err := rows.Scan(&id, &seq); err != nil {
			return err
		}
		if len(id) == len(Sum{}) {
			have[Sum(id)] = seq
		}
	}
	var outcomes []outcome
	for _, v := range b.versions {
		if seq, ok := have[v.key.ID]; !ok || seq != v.key.Version {
			outcomes = append(outcomes, outcome{after: v.key})
		}
		delete(have, v.key.ID)
	}
	for id := range have {
		outcomes = append(outcomes, outcome{before: &Key{Record: Record{ID: id}}})
	}
	s.apply(outcomes, b.upTo)
	return nil
}

// apply queues changes of the snapshot, which then has all up to a number. A full disk does not stop
// the keys: a later start without PostgreSQL has older ones.
func (s *snapshot) apply(outcomes []outcome, upTo int64) {
	for len(outcomes) > copyRows {
		s.submit(&snapshotChange{outcomes: outcomes[:copyRows]})
		outcomes = outcomes[copyRows:]
	}
	s.submit(&snapshotChange{outcomes: outcomes, last: true, upTo: upTo, at: s.now()})
}

func (s *snapshot) submit(op store.Op) {
	if err := s.store.Submit(op); err != nil {
		s.logger.Error("the snapshot of the keys made at run time is not written", zap.Error(err))
	}
}

// snapshotChange writes and deletes some rows of the snapshot.
type snapshotChange struct {
	outcomes []outcome
	last     bool // no other operation of the same batch follows
	upTo     int64
	at       time.Time
}

func (c *snapshotChange) Droppable() bool { return false }

// Size is about what keys with some settings take.
func (c *snapshotChange) Size() int { return 256 + len(c.outcomes)*1024 }

func (c *snapshotChange) Apply(tx *store.Tx) error {
	for _, o := range c.outcomes {
		if o.after == nil {
			if _, err := tx.Exec(deleteCopy, o.before.ID[:]); err != nil {
				return err
			}
			continue
		}
		values, err := o.after.values()
		if err != nil {
			return err
		}
		if _, err := tx.Exec(upsertCopy, values...); err != nil {
			return err
		}
	}
	if !c.last {
		return nil
	}
	_, err := tx.Exec(upsertState, c.upTo, c.at.UnixNano())
	return err
}
