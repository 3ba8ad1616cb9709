package valkey_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// agrees waits until the engine and the book have this spent of a key, and nothing is reserved.
func agrees(t testing.TB, g gateway, db *postgres.DB, key limits.Subject, want int64) {
	t.Helper()
	got := ""
	defer func() {
		if t.Failed() {
			t.Log(got)
		}
	}()
	within(t, 10*time.Second, fmt.Sprintf("the engine and the book have %d", want), func() bool {
		balances, err := g.Status(t.Context(), g.node.Now(), []limits.Subject{key})
		if err != nil {
			return false
		}
		right := true
		got = ""
		for _, b := range balances {
			booked, _ := spentInBook(t, db, key.Name, b.Budget.Name())
			got += fmt.Sprintf("%s: spent %d, reserved %d, in the book %d; ", b.Budget.Name(), b.Spent, b.Reserved, booked)
			right = right && b.Spent == want && booked == want && b.Reserved == 0
		}
		return right
	})
}

// restored is how many settlements different gateways have said again.
func restored(all ...gateway) (n uint64) {
	seen := map[*valkey.Ledger]bool{}
	for _, g := range all {
		if !seen[g.Ledger] {
			seen[g.Ledger], n = true, n+g.Restored()
		}
	}
	return n
}

// A gateway has settled calls and written them to the book, and dies. The engine comes back without
// these settlements. The others say them again from the book: neither is one missing, nor is a call
// charged as reserved on top. An engine that comes back with nothing gets them with the balances, once.
func TestWhatADeadGatewayHasSettledIsSaidAgain(t *testing.T) {
	t.Parallel() // it waits for the end of a lease
	for _, tt := range []struct {
		name     string
		restarts bool // the gateway does, soon
		late     bool // PostgreSQL is away while the ledger is made whole
		emptied  bool
	}{
		{name: "by the others"},
		{name: "by its next process", restarts: true},
		{name: "late, because PostgreSQL was away", late: true},
		{name: "an engine that was emptied", emptied: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			engine, key := enginetest.Redis(t, "dbfilename", "dump.rdb"), keyA(t)
			way := enginetest.NewProxy(t, engine.Addr)
			db, writers := openBook(t, "a", "b", "a2")
			written := func() {
				t.Helper()
				for _, w := range writers {
					if err := w.Flush(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			execute := func(statement string) {
				t.Helper()
				if _, err := db.Pool().Exec(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			dies := dying(t, way.Addr, "a", valkey.LedgerConfig{Writer: writers["a"], DB: db})
			lives := dying(t, engine.Addr, "b", valkey.LedgerConfig{Writer: writers["b"], DB: db})
			hold(t, dies, "settled", 100, key)
			settle(t, dies, "settled", 60)
			hold(t, dies, "settlement lost", 200, key)
			hold(t, lives, "of the other", 50, key)
			shows(t, dies, key, 60, 250, 60, 250)
			save(t, engine.Addr)
			settle(t, dies, "settlement lost", 150)
			hold(t, dies, "all lost", 1000, key)
			settle(t, dies, "all lost", 700)
			settle(t, lives, "of the other", 40)
			flushed(t, dies)
			shows(t, lives, key, 950, 0, 950, 0)
			written()

			way.Hold()
			if tt.late {
				execute("ALTER TABLE ledger_receipts RENAME TO hidden")
			}
			if tt.emptied {
				flush(t, engine.Addr)
			} else {
				engine.Kill()
				engine.MustStart(t)
			}
			id, other := dies.node.ID(), lives
			if tt.restarts {
				lives = dying(t, engine.Addr, "a", valkey.LedgerConfig{Writer: writers["a2"], DB: db})
			}
			hold(t, lives, "after", 10, key)
			if tt.late {
				execute("ALTER TABLE hidden RENAME TO ledger_receipts")
			}
			settle(t, lives, "after", 1)
			flushed(t, lives)
			written()
			agrees(t, lives, db, key, 951)
			if err := lives.Reap(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			agrees(t, lives, db, key, 951)
			if n := restored(lives, other); tt.emptied && n > 0 || !tt.emptied && n != 3 {
				t.Errorf("%d settlements were said again", n)
			}
		})
	}
}
