package valkey_test

import (
	"context"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// openBook returns the book of a new database, and a writer of it for a gateway.
func openBook(t testing.TB, nodes ...string) (*postgres.DB, map[string]*postgres.Writer) {
	t.Helper()
	db, err := postgres.Open(enginetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := db.Migrate(t.Context(), postgres.WriterSchema, valkey.PostgresSchema); err != nil {
		t.Fatal(err)
	}
	writers := map[string]*postgres.Writer{}
	for _, node := range nodes {
		w := postgres.NewWriter(db, node, valkey.BookTable(node))
		if err := w.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close(context.Background()) })
		writers[node] = w
	}
	return db, writers
}

func spentInBook(t testing.TB, db *postgres.DB, subject, budget string) (spent, calls int64) {
	t.Helper()
	err := db.Pool().QueryRow(t.Context(), "SELECT coalesce(sum(spent), 0)::bigint, coalesce(sum(calls), 0)::bigint FROM ledger WHERE subject = $1 AND budget = $2",
		subject, budget).Scan(&spent, &calls)
	if err != nil {
		t.Fatal(err)
	}
	return spent, calls
}

// A crash that is taken back is not in the book, whichever comes first and however often.
func TestTheBookTakesACrashBack(t *testing.T) {
	db, writers := openBook(t, "a", "b")
	crash := valkey.AppendRow("call", []valkey.BookLine{{"key:a", "usd/total", "all", 100, 1}})
	back := valkey.AppendRow("call has settled", []valkey.BookLine{{"key:a", "usd/total", "all", -100, -1}})
	for _, order := range [][][]byte{{crash, back}, {back, crash}, {back}} {
		for _, row := range order {
			writers["a"].Append("ledger", row)
			if err := writers["a"].Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			writers["b"].Append("ledger", row)
			writers["b"].Append("ledger", row)
		}
		if err := writers["b"].Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if spent, calls := spentInBook(t, db, "key:a", "usd/total"); spent != 0 || calls != 0 {
			t.Fatalf("the book has %d of %d calls", spent, calls)
		}
		if _, err := db.Pool().Exec(t.Context(), "TRUNCATE ledger, ledger_crash"); err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range []string{"a", "b"} { // in one transaction
		writers[node].Append("ledger", back)
		writers[node].Append("ledger", crash)
	}
	for _, w := range writers {
		if err := w.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if spent, calls := spentInBook(t, db, "key:a", "usd/total"); spent != 0 || calls != 0 {
		t.Errorf("the book has %d of %d calls", spent, calls)
	}
}

// A crash that was written twice, because the one who wrote it has died, is in the book once. The
// correction may come first.
func TestTheBookTakesACrashOnce(t *testing.T) {
	db, writers := openBook(t, "a", "b")
	crash := valkey.AppendRow("call", []valkey.BookLine{{"key:a", "usd/total", "all", 100, 1}})
	writers["a"].Append("ledger", valkey.AppendRow("", []valkey.BookLine{{"key:a", "usd/total", "all", -60, 0}}))
	for _, w := range writers {
		w.Append("ledger", crash)
		w.Append("ledger", crash)
	}
	for _, w := range writers {
		if err := w.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if spent, calls := spentInBook(t, db, "key:a", "usd/total"); spent != 40 || calls != 1 {
		t.Errorf("%d of %d calls", spent, calls)
	}
}

func TestOldPeriodsLeaveTheBook(t *testing.T) {
	db, writers := openBook(t, "a")
	g := join(t, enginetest.Redis(t).Addr, "a", noon(), valkey.LedgerConfig{Writer: writers["a"], DB: db}) // it does not beat
	var lines []valkey.BookLine
	for _, period := range []string{"2020-05-01", "2020-06-01", "2026-05-01"} {
		lines = append(lines, valkey.BookLine{Subject: "key:a", Budget: "usd/month", Period: period, Spent: 1, Calls: 1})
	}
	lines = append(lines, valkey.BookLine{Subject: "key:idle", Budget: "usd/day", Period: "2020-05-01", Spent: 1, Calls: 1},
		valkey.BookLine{Subject: "key:a", Budget: "usd/total", Period: "all", Spent: 1, Calls: 1})
	writers["a"].Append("ledger", valkey.AppendRow("", lines))
	if err := writers["a"].Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Prune(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		subject, budget string
		want            int64
	}{{"key:a", "usd/month", 1}, {"key:a", "usd/total", 1}, {"key:idle", "usd/day", 1}} {
		if spent, _ := spentInBook(t, db, tt.subject, tt.budget); spent != tt.want {
			t.Errorf("%s of %s: %d periods are left", tt.budget, tt.subject, spent)
		}
	}
}
