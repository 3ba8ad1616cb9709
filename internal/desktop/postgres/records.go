// Package postgres has the registrations and release marks of workstations in PostgreSQL, where several
// gateways read them.
package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// Schema has the records of workstations.
var Schema = postgres.Schema{Name: "workstations", Steps: []string{`
	CREATE TABLE workstation (
		tenant   text   NOT NULL,
		name     text   NOT NULL,
		value    text,            -- JSON as a single gateway keeps it; NULL: deleted
		seq      bigint NOT NULL, -- of the feed: its last change
		released bigint NOT NULL, -- of the feed: its last release, 0 before the first
		PRIMARY KEY (tenant, name)
	);
	CREATE INDEX workstation_seq ON workstation (seq)`, `
	ALTER TABLE workstation ADD COLUMN released_by text NOT NULL DEFAULT '' -- the key of its last release`}}

// Records implements [desktop.Records].
type Records struct {
	db    *postgres.DB
	feed  *postgres.Feed
	apply func(desktop.StoredRecord) error
}

// NewRecords returns the records in a database that has Schema. The feed calls apply with all
// changes, in their order.
func NewRecords(db *postgres.DB, feed *postgres.Feed, apply func(desktop.StoredRecord) error) *Records {
	p := &Records{db, feed, apply}
	feed.Follow(postgres.Follower{Name: "workstations", Read: p.read})
	return p
}

// Store writes records. The feed orders all changes, whatever the clocks of the gateways say.
func (p *Records) Store(ctx context.Context, records []desktop.StoredRecord) error {
	return p.feed.Change(ctx, func(ctx context.Context, tx pgx.Tx, seq int64) error {
		var all pgx.Batch
		for i := range records {
			r, released, seen := &records[i], int64(0), records[i].Seq
			if r.Released {
				released = seq
			}
			r.Seq = seq
			all.Queue(`INSERT INTO workstation AS w VALUES ($1, $2, $3, $4, $5, $6)
				ON CONFLICT (tenant, name) DO UPDATE SET value = excluded.value, seq = excluded.seq,
					released = greatest(w.released, excluded.released), released_by = excluded.released_by
					WHERE w.seq <= $7
				RETURNING released`, r.ID.Tenant, r.ID.Name, string(r.Value), seq, released, r.ReleasedBy, seen,
			).QueryRow(func(row pgx.Row) error { return row.Scan(&r.Generation) })
		}
		err := tx.SendBatch(ctx, &all).Close()
		if errors.Is(err, pgx.ErrNoRows) {
			return desktop.ErrChanged
		}
		return err
	})
}

// Delete leaves an empty row, so that others learn of it.
func (p *Records) Delete(ctx context.Context, id desktop.ID, seen int64) error {
	return p.feed.Change(ctx, func(ctx context.Context, tx pgx.Tx, seq int64) error {
		_, err := tx.Exec(ctx, "UPDATE workstation SET value = NULL, seq = $3 WHERE tenant = $1 AND name = $2 AND seq <= $4 AND value IS NOT NULL",
			id.Tenant, id.Name, seq, seen)
		return err
	})
}

// CatchUp reads what has changed.
func (p *Records) CatchUp(ctx context.Context) error {
	err := p.feed.CatchUp(ctx)
	if errors.Is(err, postgres.ErrUnavailable) {
		return fmt.Errorf("%w: %w", desktop.ErrAway, err)
	}
	return err
}

// read applies what has changed after a number.
func (p *Records) read(ctx context.Context, after int64) error {
	rows, err := p.db.Pool().Query(ctx, "SELECT tenant, name, value, seq, released, released_by FROM workstation WHERE seq > $1 ORDER BY seq", after)
	if err != nil {
		return err
	}
	changes, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r desktop.StoredRecord, err error) {
		var value *string
		err = row.Scan(&r.ID.Tenant, &r.ID.Name, &value, &r.Seq, &r.Generation, &r.ReleasedBy)
		if value != nil {
			r.Value = []byte(*value)
		}
		return r, err
	})
	if err != nil {
		return err
	}
	for _, c := range changes {
		if err := p.apply(c); err != nil {
			return err
		}
	}
	return nil
}

var _ desktop.Records = (*Records)(nil)
