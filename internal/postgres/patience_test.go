package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// Rows that come while others are written wait for more as all rows do: a transaction costs the same for
// one as for many.
func TestRowsThatComeDuringAWriteWaitForOthers(t *testing.T) {
	db := connect(t, enginetest.Postgres(t))
	migrate(t, db)
	var w *postgres.Writer
	var appended time.Time
	waited := make(chan time.Duration, 2)
	w = postgres.NewWriter(db, "a", postgres.Table{Name: "number", Write: func(context.Context, pgx.Tx, [][]byte) error {
		if appended.IsZero() {
			appended = time.Now()
			w.Append("number", number(2))
		} else {
			waited <- time.Since(appended)
		}
		return nil
	}})
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer w.Close(context.Background())
	w.Append("number", number(1))
	if after := <-waited; after < 45*time.Millisecond {
		t.Errorf("the second row was written after %v", after)
	}
}
