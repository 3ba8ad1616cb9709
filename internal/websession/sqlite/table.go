// Package sqlite keeps who is signed in at one gateway in its database: a restart signs nobody out.
package sqlite

import (
	"context"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

// Schema has the table, for store.Options.
var Schema = store.Schema{Name: "console_sessions", Steps: []string{`
	CREATE TABLE console_session (
		hash    TEXT    NOT NULL PRIMARY KEY, -- of the ID, SHA-256 in hex
		session TEXT    NOT NULL,             -- JSON
		started INTEGER NOT NULL,             -- nanoseconds since 1970
		used    INTEGER NOT NULL,
		ends    INTEGER NOT NULL              -- as it was when the row was written
	) WITHOUT ROWID;
	CREATE INDEX console_session_ends ON console_session (ends);`}}

const (
	selectRows  = "SELECT hash, session, started, used, ends FROM console_session WHERE ends > ? ORDER BY ends DESC LIMIT ?"
	upsertRow   = "INSERT OR REPLACE INTO console_session (hash, session, started, used, ends) VALUES (?, ?, ?, ?, ?)"
	deleteRow   = "DELETE FROM console_session WHERE hash = ?"
	deleteEnded = "DELETE FROM console_session WHERE ends <= ?"
)

// Table implements [websession.Table]. What its store cannot take is not kept: that says so.
type Table struct{ store *store.Store }

// NewTable returns the table in a store that was opened with Schema.
func NewTable(st *store.Store) Table { return Table{st} }

// Load implements [websession.Table].
func (t Table) Load(ctx context.Context, after time.Time, yield func(websession.Row)) error {
	for rows, err := range store.Rows(ctx, t.store, selectRows, after.UnixNano(), websession.MaxSessions) {
		if err != nil {
			return err
		}
		var r websession.Row
		var text string
		var started, used, ends int64
		if err := rows.Scan(&r.Hash, &text, &started, &used, &ends); err != nil {
			return err
		}
		if err := r.SetText(text); err != nil {
			return err
		}
		r.Started, r.Used, r.Ends = time.Unix(0, started), time.Unix(0, used), time.Unix(0, ends)
		yield(r)
	}
	return t.store.Submit(ended(after.UnixNano()))
}

// Save implements [websession.Table].
func (t Table) Save(r websession.Row) {
	_ = t.store.Submit(&saved{r.Hash, r.Text(), r.Started.UnixNano(), r.Used.UnixNano(), r.Ends.UnixNano()})
}

// Erase implements [websession.Table].
func (t Table) Erase(hash string) { _ = t.store.Submit(erased(hash)) }

// Flush implements [websession.Table].
func (t Table) Flush(ctx context.Context) error { return t.store.Flush(ctx) }

type saved struct {
	hash, text          string
	started, used, ends int64
}

func (s *saved) Apply(tx *store.Tx) error {
	_, err := tx.Exec(upsertRow, s.hash, s.text, s.started, s.used, s.ends)
	return err
}

func (s *saved) Droppable() bool { return false }

// Size is that of its text, and about what the rest takes.
func (s *saved) Size() int { return len(s.text) + 256 }

type erased string

func (e erased) Apply(tx *store.Tx) error {
	_, err := tx.Exec(deleteRow, string(e))
	return err
}

func (e erased) Droppable() bool { return false }

type ended int64

func (e ended) Apply(tx *store.Tx) error {
	_, err := tx.Exec(deleteEnded, int64(e))
	return err
}

func (e ended) Droppable() bool { return true }

var _ websession.Table = Table{}
