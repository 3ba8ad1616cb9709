package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// FeedSchema has the number of the last change.
var FeedSchema = Schema{Name: "feed", Steps: []string{`
	CREATE TABLE feed (seq bigint NOT NULL);
	INSERT INTO feed VALUES (0)`}}

// Feed numbers changes that all gateways must learn of: keys, workstations. Every change locks one
// row, so that numbers become visible in their order; a sequence could show 8 before 7.
type Feed struct{ db *DB }

// NewFeed returns the feed of a database that has FeedSchema.
func NewFeed(db *DB) *Feed { return &Feed{db} }

// Change makes a change with the next number, which write puts into its rows.
func (f *Feed) Change(ctx context.Context, write func(ctx context.Context, tx pgx.Tx, seq int64) error) error {
	return pgx.BeginFunc(ctx, f.db.pool, func(tx pgx.Tx) error {
		var seq int64
		if err := tx.QueryRow(ctx, "UPDATE feed SET seq = seq + 1 RETURNING seq").Scan(&seq); err != nil {
			return err
		}
		return write(ctx, tx, seq)
	})
}
