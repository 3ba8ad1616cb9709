package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func open(t *testing.T) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(enginetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func TestALayoutOfANewerProgramIsRefused(t *testing.T) {
	db := open(t)
	schema := postgres.Schema{Name: "things", Steps: []string{"CREATE TABLE thing (n int)", "ALTER TABLE thing ADD m int"}}
	for range 2 {
		if err := db.Migrate(t.Context(), schema); err != nil {
			t.Fatal(err)
		}
	}
	schema.Steps = schema.Steps[:1]
	if db.Migrate(t.Context(), schema) == nil {
		t.Error("an older program uses a newer layout")
	}
}

func TestAFlushedRowIsInTheDatabase(t *testing.T) {
	db := open(t)
	things := postgres.Schema{Name: "things", Steps: []string{"CREATE TABLE thing (name text)"}}
	if err := db.Migrate(t.Context(), postgres.WriterSchema, things); err != nil {
		t.Fatal(err)
	}
	w := postgres.NewWriter(db, "a", postgres.Table{Name: "thing", Write: func(ctx context.Context, tx pgx.Tx, rows [][]byte) error {
		for _, row := range rows {
			if _, err := tx.Exec(ctx, "INSERT INTO thing VALUES ($1)", string(row)); err != nil {
				return err
			}
		}
		return nil
	}})
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Append("thing", []byte("one"))
	if err := w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.Pool().QueryRow(t.Context(), "SELECT count(*) FROM thing").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
	if err := w.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
