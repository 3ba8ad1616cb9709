package runtimekeys

import (
	"context"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Insertion is the operation that keeps a new record.
func Insertion(r *Record) store.Op { return &recordChange{after: r} }

// Look is look.
func (t *PostgresTable) Look(ctx context.Context, number int64, before, after *Record, uncertain error) error {
	return t.look(ctx, number, before, after, uncertain)
}
