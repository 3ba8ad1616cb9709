package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// A process that was paused, and one that has taken its name meanwhile, write at the same time.
func TestTwoProcessesOfOneNameWriteEachRowOnce(t *testing.T) {
	dsn := enginetest.Postgres(t)
	db := connect(t, dsn)
	migrate(t, db)
	const each = 3000
	var both sync.WaitGroup
	for i := range 2 {
		w := startWriter(t, connect(t, dsn), openStore(t, t.TempDir()), 0)
		defer closeWriter(t, w)
		both.Go(func() {
			for n := range each {
				w.Append("number", number(i*each+n))
				if n%100 == 0 {
					_ = w.Flush(t.Context())
				}
			}
			flushed(t, w)
		})
	}
	both.Wait()
	var all, different int
	err := db.Pool().QueryRow(t.Context(), "SELECT count(*), count(DISTINCT n) FROM number").Scan(&all, &different)
	if err != nil || all != 2*each || different != 2*each {
		t.Errorf("%d rows, %d different ones, %v", all, different, err)
	}
}

func TestRowsWaitWhileTheDiskOfTheDatabaseIsFull(t *testing.T) {
	db := open(t)
	migrate(t, db)
	exec := func(query string) {
		t.Helper()
		if _, err := db.Pool().Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	w := startWriter(t, db, openStore(t, t.TempDir()), 0)
	defer closeWriter(t, w)
	exec("CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END$$")
	exec("CREATE TRIGGER full_disk BEFORE INSERT ON number EXECUTE FUNCTION full_disk()")
	for n := range 700 {
		w.Append("number", number(n))
	}
	if err := w.Flush(t.Context()); !errors.Is(err, postgres.ErrUnavailable) || !strings.Contains(err.Error(), "No space left") {
		t.Errorf("a full disk: %v", err)
	}
	if s := w.Status(); s.Spooled == 0 || s.Refused > 0 || s.Dropped > 0 {
		t.Errorf("the status is %+v", s)
	}
	exec("DROP TRIGGER full_disk ON number")
	flushed(t, w)
	wantNumbers(t, db, 700)
}

func TestAUserWhoMayNotMakeTablesIsTold(t *testing.T) {
	dsn := enginetest.Postgres(t)
	db := connect(t, dsn)
	for _, query := range []string{
		"REVOKE CREATE ON SCHEMA public FROM PUBLIC", "DROP ROLE IF EXISTS reader", "CREATE ROLE reader LOGIN", "GRANT USAGE ON SCHEMA public TO reader",
	} {
		if _, err := db.Pool().Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	reader := connect(t, strings.Replace(dsn, "gatehouse@", "reader@", 1))
	err := reader.Migrate(t.Context(), postgres.WriterSchema, numbers)
	if err == nil || errors.Is(err, postgres.ErrUnavailable) || !strings.Contains(err.Error(), "GRANT CREATE") {
		t.Errorf("tables that it may not make: %v", err)
	}
	migrate(t, db) // the tables are there, and it may write
	if _, err := db.Pool().Exec(t.Context(), "GRANT ALL ON ALL TABLES IN SCHEMA public TO reader; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO reader"); err != nil {
		t.Fatal(err)
	}
	if err := reader.Migrate(t.Context(), postgres.WriterSchema, numbers); err != nil {
		t.Errorf("tables that another user has made: %v", err)
	}
	w := postgres.NewWriter(reader, "a", numberTable("number"))
	w.Spool(openStore(t, t.TempDir()), 0, zap.NewNop())
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer closeWriter(t, w)
	w.Append("number", number(0))
	flushed(t, w)
	wantNumbers(t, db, 1)
}

// The server goes away while one gateway migrates: nothing is half done.
func TestAMigrationThatIsCutIsRepeated(t *testing.T) {
	server := enginetest.StartPostgres(t)
	db := connect(t, server.Database(t))
	waits := postgres.Schema{Name: "waits", Steps: []string{"CREATE TABLE half (n int)", "SELECT pg_sleep(60)"}}
	failed := make(chan error, 1)
	go func() { failed <- db.Migrate(t.Context(), waits) }()
	eventually(t, "the migration is in its second step", func() error {
		var n int
		err := db.Pool().QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)' AND state = 'active'").Scan(&n)
		if err == nil && n == 0 {
			err = errors.New("it is not")
		}
		return err
	})
	server.Kill()
	if err := <-failed; !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("a migration whose server is killed: %v", err)
	}
	if err := db.Migrate(t.Context(), waits); !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("a migration without a server: %v", err)
	}
	eventually(t, "the server starts", server.Restart)
	waits.Steps[1] = "SELECT 1"
	eventually(t, "the tables are made", func() error { return db.Migrate(t.Context(), waits) })
}

// Writers of all gateways update the same lines of the book. One that is paused between its statements
// has locked them.
func TestAGatewayThatIsPausedInATransactionHoldsUpNoOther(t *testing.T) {
	dsn := enginetest.Postgres(t)
	db := connect(t, dsn)
	migrate(t, db)
	if _, err := db.Pool().Exec(t.Context(), "CREATE TABLE book (spent int); INSERT INTO book VALUES (0)"); err != nil {
		t.Fatal(err)
	}
	spend := func(node string, then func()) *postgres.Writer {
		w := postgres.NewWriter(connect(t, dsn), node, postgres.Table{Name: "book", Write: func(ctx context.Context, tx pgx.Tx, rows [][]byte) error {
			_, err := tx.Exec(ctx, "UPDATE book SET spent = spent + $1", len(rows))
			then()
			return err
		}})
		if err := w.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeWriter(t, w) })
		w.Append("book", nil)
		return w
	}
	paused, resume := make(chan struct{}), make(chan struct{})
	var once sync.Once
	first := spend("a", func() {
		once.Do(func() {
			close(paused)
			<-resume
		})
	})
	<-paused
	began := time.Now()
	if err := spend("b", func() {}).Flush(t.Context()); err != nil {
		t.Errorf("the other gateway: %v after %v", err, time.Since(began))
	}
	close(resume)
	flushed(t, first)
	var spent int
	if err := db.Pool().QueryRow(t.Context(), "SELECT spent FROM book").Scan(&spent); err != nil || spent != 2 {
		t.Errorf("%d is spent, want 2: %v", spent, err)
	}
}
