// Package sqlite keeps the owners of one gateway in its store.
//
//	o := owners.New(sqlite.New(st), time.Now) // st was opened with Schema
//
// A row is on disk with the store's next commit: a kill -9 within the commit interval may lose it.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"
	"unsafe"

	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Schema has the table of this package, for store.Options.
var Schema = store.Schema{
	Name: "owners",
	Steps: []string{`
		CREATE TABLE owners (
			provider   TEXT    NOT NULL,
			id         TEXT    NOT NULL,
			kind       TEXT    NOT NULL,
			tenant     TEXT    NOT NULL,
			expires_at INTEGER NOT NULL, -- nanoseconds since 1970
			PRIMARY KEY (provider, id)
		) WITHOUT ROWID;
		CREATE INDEX owners_expiry ON owners (expires_at);`,
		// The index was nearly half of what an owner cost. Pruning does without it.
		`DROP INDEX owners_expiry;`,
	},
}

const (
	selectOwner = "SELECT kind, tenant, expires_at FROM owners WHERE provider = ? AND id = ?"
	selectValid = `SELECT provider, id, kind, tenant, expires_at FROM owners WHERE expires_at > ?
		ORDER BY provider, id`

	// upsertOwner does not change a valid row of another tenant.
	upsertOwner = `INSERT INTO owners (provider, id, kind, tenant, expires_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (provider, id) DO UPDATE
		SET kind = excluded.kind, tenant = excluded.tenant, expires_at = excluded.expires_at
		WHERE tenant = excluded.tenant OR expires_at <= ?`
)

// Table implements [owners.Table].
type Table struct {
	store   *store.Store
	correct func(owners.Row) // set by Follow
}

// New returns the table in a store that was opened with Schema.
func New(st *store.Store) *Table { return &Table{store: st} }

// Follow implements [owners.Table].
func (t *Table) Follow(f func(owners.Row)) { t.correct = f }

// Put implements [owners.Table].
func (t *Table) Put(r owners.Row) (owners.Row, error) {
	if err := t.store.Submit(&put{t, r}); err != nil {
		return r, fmt.Errorf("keeping the owner of %q: %w", r.ID, err)
	}
	return r, nil
}

// Get implements [owners.Table]. It flushes first: a burst may remove an entry from memory before it
// is committed.
func (t *Table) Get(ctx context.Context, provider string, ids []string) (rows []owners.Row, err error) {
	if err := t.store.Flush(ctx); err != nil {
		return nil, err
	}
	for _, id := range ids {
		r := owners.Row{Provider: provider, ID: id}
		var expires int64
		err := t.store.Reader().QueryRowContext(ctx, selectOwner, provider, id).Scan(&r.Kind, &r.Tenant, &expires)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		r.Expires = time.Unix(0, expires)
		rows = append(rows, r)
	}
	return rows, nil
}

// List yields the rows that are valid at a time, in the order of their keys.
func (t *Table) List(ctx context.Context, at time.Time) iter.Seq2[owners.Row, error] {
	return func(yield func(owners.Row, error) bool) {
		for rows, err := range store.Rows(ctx, t.store, selectValid, at.UnixNano()) {
			var r owners.Row
			var expires int64
			if err == nil {
				err = rows.Scan(&r.Provider, &r.ID, &r.Kind, &r.Tenant, &expires)
			}
			r.Expires = time.Unix(0, expires)
			if !yield(r, err) {
				return
			}
		}
	}
}

// put writes one row. It is not droppable: a tenant without its row could not use its own response.
type put struct {
	table *Table
	row   owners.Row
}

func (*put) Droppable() bool { return false }

func (p *put) Size() int { return int(unsafe.Sizeof(*p)) + len(p.row.ID) }

// Apply tells the follower of an earlier owner that memory had forgotten.
func (p *put) Apply(tx *store.Tx) error {
	r := p.row
	res, err := tx.Exec(upsertOwner, r.Provider, r.ID, r.Kind, r.Tenant, r.Expires.UnixNano(), r.At.UnixNano())
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return err
	}
	var expires int64
	if err := tx.Get(selectOwner, []any{r.Provider, r.ID}, &r.Kind, &r.Tenant, &expires); err != nil {
		return err
	}
	r.Expires = time.Unix(0, expires)
	p.table.correct(r)
	return nil
}
