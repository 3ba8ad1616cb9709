package postgres_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// numbers is a table that takes a number twice: a test sees it. One below 0 is refused by the database, a row
// that is no number by the program.
var numbers = postgres.Schema{Name: "numbers", Steps: []string{
	"CREATE TABLE number (place bigserial, n bigint CHECK (n >= 0))",
}}

func numberTable(name string) postgres.Table {
	return postgres.Table{Name: name, Write: func(ctx context.Context, tx pgx.Tx, rows [][]byte) error {
		var all []int64
		for _, row := range rows {
			if len(row) < 8 {
				return errors.New("a short row")
			}
			all = append(all, int64(binary.BigEndian.Uint64(row)))
		}
		_, err := tx.Exec(ctx, "INSERT INTO number (n) SELECT unnest($1::bigint[])", all)
		return err
	}}
}

func number(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	st, err := store.Open(dir, store.Options{Schemas: []store.Schema{postgres.SpoolSchema}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

func connect(t *testing.T, dsn string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func migrate(t *testing.T, db *postgres.DB) {
	t.Helper()
	if err := db.Migrate(t.Context(), postgres.WriterSchema, numbers); err != nil {
		t.Fatal(err)
	}
}

// startWriter returns a writer of numbers that is closed with the test.
func startWriter(t *testing.T, db *postgres.DB, st *store.Store, bytes int64) *postgres.Writer {
	t.Helper()
	w := postgres.NewWriter(db, "a", numberTable("number"))
	if st != nil {
		w.Spool(st, bytes, zap.NewNop())
	}
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func closeWriter(t *testing.T, w *postgres.Writer) {
	t.Helper()
	if err := w.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// flushed waits until all rows are in the database.
func flushed(t *testing.T, w *postgres.Writer) {
	t.Helper()
	eventually(t, "the rows are written", func() error { return w.Flush(t.Context()) })
}

// wantNumbers expects each number from 0 to before n once, in order.
func wantNumbers(t *testing.T, db *postgres.DB, n int) {
	t.Helper()
	rows, err := db.Pool().Query(t.Context(), "SELECT n FROM number ORDER BY place")
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range all {
		if got != int64(i) {
			t.Fatalf("row %d is %d", i, got)
		}
	}
	if len(all) != n {
		t.Errorf("%d rows, want %d", len(all), n)
	}
}

func TestABatchWhoseCommitGotNoAnswerIsWrittenOnce(t *testing.T) {
	dsn := enginetest.Postgres(t)
	migrate(t, connect(t, dsn))
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	proxy := newCutter(t, fmt.Sprintf("%s:%d", config.Host, config.Port), "commit")
	db := connect(t, strings.Replace(dsn, fmt.Sprintf(":%d/", config.Port), fmt.Sprintf(":%d/", proxy.Addr().(*net.TCPAddr).Port), 1))
	w := startWriter(t, db, openStore(t, t.TempDir()), 0)
	defer closeWriter(t, w)
	for i := range 5 {
		proxy.cuts.Store(1 + int32(i/4)) // one is tried again at once, two later
		w.Append("number", number(i))
		if err := w.Flush(t.Context()); (err != nil) != (i == 4) || err != nil && !errors.Is(err, postgres.ErrUnavailable) {
			t.Errorf("a flush whose answer was lost: %v", err)
		}
		flushed(t, w)
		if proxy.cuts.Load() > 0 {
			t.Error("no commit was cut")
		}
	}
	wantNumbers(t, connect(t, dsn), 5)
}

func TestRowsWaitOnDiskWhileTheDatabaseIsAway(t *testing.T) {
	server := enginetest.StartPostgres(t)
	dsn, dir := server.Database(t), t.TempDir()
	db := connect(t, dsn)
	migrate(t, db)
	st := openStore(t, dir)
	w := startWriter(t, db, st, 0)
	n := 0
	write := func(rows int) {
		for range rows {
			w.Append("number", number(n))
			n++
		}
	}
	write(1200)
	flushed(t, w)
	write(700)
	server.Kill() // some of these are perhaps written
	write(2000)
	eventually(t, "the server's last process ends", func() error {
		if w.Flush(t.Context()) == nil {
			write(1)
			return errors.New("rows are written")
		}
		return nil
	})
	if s := w.Status(); s.Spooled == 0 || s.SpooledBytes == 0 || !errors.Is(s.Err, postgres.ErrUnavailable) || s.Dropped > 0 {
		t.Errorf("the status is %+v", s)
	}
	write(100)
	closeWriter(t, w) // the process ends, and begins again while the server is away
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	w = startWriter(t, db, openStore(t, dir), 0)
	defer func() { closeWriter(t, w) }()
	write(100)
	_ = w.Flush(t.Context())
	eventually(t, "the server starts", server.Restart)
	write(100)
	flushed(t, w)
	eventually(t, "the status is that of a database that works", func() error {
		if s := w.Status(); s.Err != nil || s.Spooled != 0 || s.SpooledBytes != 0 || s.Waiting != 0 {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
	wantNumbers(t, db, n)
}

func TestAKilledServerHasNothingTwiceAndNothingIsLost(t *testing.T) {
	server := enginetest.StartPostgres(t)
	db := connect(t, server.Database(t))
	migrate(t, db)
	w := startWriter(t, db, openStore(t, t.TempDir()), 0)
	defer closeWriter(t, w)
	n := 0
	for round := range 4 {
		for range 40 { // about one batch a millisecond: the kill falls into a transaction
			for range 500 {
				w.Append("number", number(n))
				n++
			}
			if round%2 == 0 {
				<-time.After(time.Millisecond)
			}
		}
		server.Kill()
		eventually(t, "the server starts", server.Restart)
	}
	flushed(t, w)
	wantNumbers(t, db, n)
}

func TestARefusedRowStopsNoOther(t *testing.T) {
	db := open(t)
	migrate(t, db)
	w := startWriter(t, db, nil, 0)
	defer closeWriter(t, w)
	for _, row := range [][]byte{number(0), number(-1), number(1), []byte("x"), number(2), number(-1)} {
		w.Append("number", row)
	}
	w.Append("number", number(3))
	flushed(t, w)
	wantNumbers(t, db, 4)
	if s := w.Status(); s.Refused != 3 || s.Err != nil {
		t.Errorf("the status is %+v", s)
	}
}

func TestAFullSpoolDropsRowsButNotKeptOnes(t *testing.T) {
	server := enginetest.StartPostgres(t)
	db := connect(t, server.Database(t))
	migrate(t, db)
	kept := numberTable("book")
	kept.Kept = true
	w := postgres.NewWriter(db, "a", numberTable("number"), kept)
	w.Spool(openStore(t, t.TempDir()), 1000, zap.NewNop())
	server.Kill() // the writer has no connection yet, to a process that would live a little longer
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer closeWriter(t, w)
	for i := range 300 {
		w.Append("number", number(1_000_000+i))
		w.Append("book", number(i))
	}
	if w.Flush(t.Context()) == nil {
		t.Error("rows are written to nothing")
	}
	eventually(t, "the server starts", server.Restart)
	flushed(t, w)
	s := w.Status()
	if s.Dropped < 200 || s.Dropped >= 300 {
		t.Errorf("%d rows were dropped", s.Dropped)
	}
	var books, others int
	err := db.Pool().QueryRow(t.Context(), "SELECT count(*) FILTER (WHERE n < 1000000), count(*) FILTER (WHERE n >= 1000000) FROM number").Scan(&books, &others)
	if err != nil || books != 300 || others != 300-int(s.Dropped) {
		t.Errorf("%d rows that must be kept, %d others, %v", books, others, err)
	}
}

func TestRowsWaitForTheirTables(t *testing.T) {
	db := open(t)
	w := startWriter(t, db, openStore(t, t.TempDir()), 0)
	defer closeWriter(t, w)
	w.Append("number", number(0))
	if err := w.Flush(t.Context()); err == nil || w.Status().Refused > 0 {
		t.Errorf("a row without a table: %v, %+v", err, w.Status())
	}
	migrate(t, db)
	flushed(t, w)
	wantNumbers(t, db, 1)
}

func TestTheMemoryOfRowsIsBounded(t *testing.T) {
	db := connect(t, "postgres://gw:secret@127.0.0.1:1/none")
	w := startWriter(t, db, nil, 0)
	row := make([]byte, 1<<20)
	for range 100 {
		w.Append("number", row)
	}
	if s := w.Status(); s.WaitingBytes > 32<<20 || s.Dropped != 68 {
		t.Errorf("the status is %+v", s)
	}
	if err := w.Close(t.Context()); err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "gw") {
		t.Errorf("lost rows: %v", err)
	}
}
