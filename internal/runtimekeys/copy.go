package runtimekeys

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// CopyTo writes records into the table of PostgresSchema, as the changes after a number of the feed. A key
// that is there is replaced.
func CopyTo(ctx context.Context, tx pgx.Tx, after int64, records []Record) error {
	statements := postgres.Statements{Tx: tx}
	for i, r := range records {
		r.Seq = after + int64(i) + 1
		r.Version = r.Seq
		values, err := r.values()
		if err != nil {
			return err
		}
		if err := statements.Add(ctx, upsertShared, values...); err != nil {
			return err
		}
	}
	return statements.Send(ctx)
}
