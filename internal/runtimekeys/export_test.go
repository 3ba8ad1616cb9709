package runtimekeys

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Insertion is the operation that keeps a new record.
func Insertion(r *Record) store.Op { return &recordChange{after: r} }

// Look is look.
func (t *PostgresTable) Look(ctx context.Context, number int64, before, after *Record, uncertain error) error {
	return t.look(ctx, number, before, after, uncertain)
}

// Upsert writes a row.
func Upsert(ctx context.Context, tx pgx.Tx, r *Record) error {
	values, err := r.values()
	if err == nil {
		_, err = tx.Exec(ctx, upsertShared, values...)
	}
	return err
}
