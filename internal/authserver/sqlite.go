package authserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Schema has the table of one gateway, for store.Options.
var Schema = store.Schema{
	Name: "sign_ins",
	Steps: []string{`
		CREATE TABLE sign_in (
			id      BLOB    NOT NULL PRIMARY KEY,
			kind    TEXT    NOT NULL,
			ends_at INTEGER NOT NULL, -- nanoseconds since 1970
			body    TEXT    NOT NULL, -- JSON
			version INTEGER NOT NULL
		) WITHOUT ROWID;
		CREATE INDEX sign_in_ends ON sign_in (ends_at);`,
	},
}

const (
	selectAll = "SELECT id, kind, ends_at, body, version FROM sign_in WHERE ends_at > ?"
	selectOne = "SELECT id, kind, ends_at, body, version FROM sign_in WHERE id = ?"
	upsert    = "INSERT OR REPLACE INTO sign_in (id, kind, ends_at, body, version) VALUES (?, ?, ?, ?, ?)"
	// prune deletes some of those that have ended. Each change does: none is left for long.
	prune = "DELETE FROM sign_in WHERE id IN (SELECT id FROM sign_in WHERE ends_at < ? LIMIT 10)"
)

// SQLite is the Store of one gateway.
type SQLite struct {
	store *store.Store
	now   func() time.Time
	turn  chan struct{} // capacity 1: held by who changes
}

// NewSQLite returns the table in a store that was opened with Schema.
func NewSQLite(st *store.Store, now func() time.Time) *SQLite {
	return &SQLite{store: st, now: now, turn: make(chan struct{}, 1)}
}

// Load implements Store.
func (t *SQLite) Load(ctx context.Context, kinds []Kind, yield func(Record)) error {
	for rows, err := range store.Rows(ctx, t.store, selectAll, t.now().UnixNano()) {
		if err != nil {
			return err
		}
		r, err := scan(rows.Scan)
		if err != nil {
			return err
		}
		if slices.Contains(kinds, r.Kind) {
			yield(r)
		}
	}
	return nil
}

// Get implements Store.
func (t *SQLite) Get(ctx context.Context, id ID) (r Record, ok bool, err error) {
	r, err = scan(t.store.Reader().QueryRowContext(ctx, selectOne, id[:]).Scan)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r, false, nil
	case err != nil:
		return r, false, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return r, true, nil
}

func scan(scan func(...any) error) (r Record, err error) {
	var id []byte
	var ends int64
	var body string
	if err := scan(&id, &r.Kind, &ends, &body, &r.Version); err != nil {
		return r, err
	}
	if len(id) != len(r.ID) {
		return r, fmt.Errorf("an id of %d bytes", len(id))
	}
	r.ID, r.Ends, r.Body = ID(id), time.Unix(0, ends), []byte(body)
	return r, nil
}

// Change implements Store.
func (t *SQLite) Change(ctx context.Context, id ID, edit func(*Record) (Record, error)) error {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
	defer func() { <-t.turn }()
	if err := t.store.Flush(ctx); err != nil { // of a change that has failed before
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	found, ok, err := t.Get(ctx, id)
	if err != nil {
		return err
	}
	before := &found
	if !ok {
		before = nil
	}
	after, err := edit(before)
	if err != nil {
		return err
	}
	if err = t.store.Submit(put{after, t.now()}); err == nil {
		err = t.store.Flush(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}

// Loading implements Store: Load fails, or has read it all.
func (*SQLite) Loading() bool { return false }

// Follow implements Store: nobody else changes the table.
func (*SQLite) Follow(func(Record)) {}

// put writes a record.
type put struct {
	Record
	at time.Time
}

func (put) Droppable() bool { return false }

func (p put) Apply(tx *store.Tx) error {
	if _, err := tx.Exec(prune, p.at.UnixNano()); err != nil {
		return err
	}
	_, err := tx.Exec(upsert, p.ID[:], string(p.Kind), p.Ends.UnixNano(), string(p.Body), p.Version)
	return err
}
