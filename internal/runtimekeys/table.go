package runtimekeys

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Schema has the tables of this package, for store.Options.
var Schema = store.Schema{
	Name: "api_keys",
	Steps: []string{`
		CREATE TABLE api_key (
			id         BLOB    NOT NULL PRIMARY KEY, -- the SHA-256 of its first secret
			seq        INTEGER NOT NULL,             -- the order of making
			tenant     TEXT    NOT NULL,
			label      TEXT    NOT NULL,
			created_at INTEGER NOT NULL,             -- nanoseconds since 1970
			updated_at INTEGER NOT NULL,             -- 0: never
			made_with  TEXT    NOT NULL,             -- the hash of an Idempotency-Key; empty: none
			settings   TEXT    NOT NULL              -- JSON
		) WITHOUT ROWID;
		CREATE TABLE api_key_secret (
			sha256      BLOB    NOT NULL PRIMARY KEY,
			id          BLOB    NOT NULL,
			valid_until INTEGER NOT NULL              -- nanoseconds since 1970; 0: it is the newest
		) WITHOUT ROWID;
		CREATE INDEX api_key_secret_id ON api_key_secret (id);`,
	},
}

const (
	selectSecrets = "SELECT sha256, id, valid_until FROM api_key_secret ORDER BY valid_until"
	selectKeys    = "SELECT id, seq, tenant, label, created_at, updated_at, made_with, settings FROM api_key ORDER BY seq"
	upsertKey     = "INSERT OR REPLACE INTO api_key (id, seq, tenant, label, created_at, updated_at, made_with, settings) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
	insertSecret  = "INSERT OR REPLACE INTO api_key_secret (sha256, id, valid_until) VALUES (?, ?, ?)"
	deleteKey     = "DELETE FROM api_key WHERE id = ?"
	deleteSecrets = "DELETE FROM api_key_secret WHERE id = ?"
)

// SQLiteTable is the Table of one machine.
type SQLiteTable struct{ store *store.Store }

// NewTable returns the table in a store that was opened with Schema.
func NewTable(st *store.Store) *SQLiteTable { return &SQLiteTable{st} }

// Load implements Table.
func (t *SQLiteTable) Load(ctx context.Context, yield func(Record) error) error {
	secrets := make(map[Sum][]Secret)
	for rows, err := range store.Rows(ctx, t.store, selectSecrets) {
		if err != nil {
			return err
		}
		var sum, id []byte
		var until int64
		if err := rows.Scan(&sum, &id, &until); err != nil {
			return err
		}
		if len(sum) != len(Sum{}) || len(id) != len(Sum{}) {
			return fmt.Errorf("a hash of %d bytes", len(sum))
		}
		secrets[Sum(id)] = append(secrets[Sum(id)], Secret{Sum(sum), timeOf(until)})
	}
	for rows, err := range store.Rows(ctx, t.store, selectKeys) {
		if err != nil {
			return err
		}
		r, err := scanKey(rows)
		if err != nil {
			return err
		}
		r.Secrets = secrets[r.ID]
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}

// scanKey returns the key of a row, without its secrets.
func scanKey(rows *sql.Rows) (r Record, err error) {
	var id []byte
	var settings string
	var created, updated int64
	if err := rows.Scan(&id, &r.Seq, &r.Tenant, &r.Label, &created, &updated, &r.MadeWith, &settings); err != nil {
		return r, err
	}
	if len(id) != len(r.ID) {
		return r, fmt.Errorf("an id of %d bytes", len(id))
	}
	r.ID, r.Created, r.Updated = Sum(id), timeOf(created), timeOf(updated)
	if err := json.Unmarshal([]byte(settings), &r.Settings); err != nil {
		return r, fmt.Errorf("the settings of the key %x: %w", id, err)
	}
	return r, nil
}

// timeOf returns nanoseconds since 1970 as a time, and 0 as the zero time.
func timeOf(nano int64) time.Time {
	if nano == 0 {
		return time.Time{}
	}
	return time.Unix(0, nano).UTC()
}

func nanoOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Change implements Table. A change whose commit fails is taken back: what is in the queue writes
// the record as it was.
func (t *SQLiteTable) Change(ctx context.Context, judge Judge) error {
	before, after, err := judge()
	if err != nil {
		return err
	}
	op := &recordChange{before: before, after: after}
	if err := t.store.Submit(op); err != nil {
		return err
	}
	if err = t.store.Flush(ctx); err != nil {
		op.undone.Store(true)
		_ = t.store.Submit(op) // it may have been committed meanwhile
	}
	return err
}

// recordChange replaces one record by another; see Table.Change.
type recordChange struct {
	before, after *Record
	undone        atomic.Bool
}

func (c *recordChange) Droppable() bool { return false }

// Size is about what a record with many settings takes.
func (c *recordChange) Size() int { return 4 << 10 }

func (c *recordChange) Apply(tx *store.Tx) error {
	old, wanted := c.before, c.after
	if c.undone.Load() {
		old, wanted = wanted, old
	}
	if old != nil {
		for _, statement := range []string{deleteSecrets, deleteKey} {
			if _, err := tx.Exec(statement, old.ID[:]); err != nil {
				return err
			}
		}
	}
	if wanted == nil {
		return nil
	}
	settings, err := json.Marshal(wanted.Settings)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(upsertKey, wanted.ID[:], wanted.Seq, wanted.Tenant, wanted.Label, nanoOf(wanted.Created), nanoOf(wanted.Updated), wanted.MadeWith, string(settings)); err != nil {
		return err
	}
	for _, s := range wanted.Secrets {
		if _, err := tx.Exec(insertSecret, s.Sum[:], wanted.ID[:], nanoOf(s.Until)); err != nil {
			return err
		}
	}
	return nil
}
