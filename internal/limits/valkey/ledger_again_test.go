package valkey_test

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// A gateway has settled a call and is cut off, from PostgreSQL too. The engine comes back without the
// settlement, and the call is charged as reserved. When the gateway is back, what it says again puts
// the charge right in the engine and in the book.
func TestASettlementThatIsSaidAgainPutsACrashRight(t *testing.T) {
	t.Parallel() // it waits for the end of a lease
	for _, said := range []string{"by the gateway", "by another", "twice, as the answer is lost"} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			engine, key := enginetest.Redis(t, "dbfilename", "dump.rdb"), keyA(t)
			way := enginetest.NewProxy(t, engine.Addr)
			db, writers := openBook(t, "a", "b")
			unwritten := &late{Writer: writers["a"]}
			a := dying(t, way.Addr, "a", valkey.LedgerConfig{Writer: unwritten, DB: db})
			b := dying(t, engine.Addr, "b", valkey.LedgerConfig{Writer: writers["b"], DB: db})
			var unheard atomic.Bool
			a.LoseMessages(func() (lost, unanswered bool) { return false, unheard.CompareAndSwap(true, false) })
			hold(t, a, "settlement lost", 100, key)
			shows(t, b, key, 0, 100, 0, 100)
			save(t, engine.Addr)
			settle(t, a, "settlement lost", 60)
			flushed(t, a)

			way.Hold()
			engine.Kill()
			engine.MustStart(t)
			agrees(t, b, db, key, 100) // it was charged as reserved
			id := a.node.ID()
			written := func() {
				t.Helper()
				if err := unwritten.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if said == "by another" {
				written()
				if err := b.Reap(t.Context(), id); err != nil {
					t.Fatal(err)
				}
				agrees(t, b, db, key, 60)
			}
			unheard.Store(said == "twice, as the answer is lost")
			way.Pass()
			within(t, 10*time.Second, "the gateway is back", func() bool { return a.node.ID() != id && a.node.Status().Err == nil })
			hold(t, a, "after", 10, key)
			settle(t, a, "after", 1)
			flushed(t, a)
			written()
			agrees(t, b, db, key, 61)
		})
	}
}

// A gateway is paused, and its call is charged as reserved. The engine comes back without that, as after
// a failover, before the gateway goes on: to the engine the call was never charged, and the book must
// not have both.
func TestAReapThatIsLostIsTakenBackInTheBook(t *testing.T) {
	t.Parallel() // it waits for the end of a lease
	engine, key := enginetest.Redis(t, "dbfilename", "dump.rdb"), keyA(t)
	way := enginetest.NewProxy(t, engine.Addr)
	db, writers := openBook(t, "a", "b")
	a := dying(t, way.Addr, "a", valkey.LedgerConfig{Writer: writers["a"], DB: db})
	b := dying(t, engine.Addr, "b", valkey.LedgerConfig{Writer: writers["b"], DB: db})
	hold(t, a, "goes on", 100, key)
	shows(t, b, key, 0, 100, 0, 100)
	save(t, engine.Addr)
	id := a.node.ID()
	way.Hold()
	agrees(t, b, db, key, 100)
	engine.Kill()
	engine.MustStart(t)
	way.Pass()
	within(t, 10*time.Second, "the gateway is back", func() bool { return a.node.ID() != id && a.node.Status().Err == nil })
	settle(t, a, "goes on", 60)
	flushed(t, a)
	agrees(t, b, db, key, 60)
}

// The answer to a settlement is lost, and the engine is away for so long that it forgets the end of the
// call. When it answers at last, the settlement is as old as it is: it is not said again as a new one.
func TestASettlementThatWasAnsweredLateIsNotSaidAgain(t *testing.T) {
	clock, key := noon(), keyA(t)
	g := join(t, enginetest.Redis(t).Addr, "a", clock, valkey.LedgerConfig{})
	var cut, away atomic.Bool
	g.LoseMessages(func() (lost, unanswered bool) { return away.Load(), cut.Load() && away.CompareAndSwap(false, true) })
	hold(t, g, "1", 100, key)
	cut.Store(true)
	settle(t, g, "1", 60)
	within(t, 10*time.Second, "the message has come, its answer has not", away.Load)
	clock.Move(6 * time.Minute)
	if _, err := g.node.Engine().Do(t.Context(), "DEL", g.node.Key("h:1")); err != nil { // as the engine does after five
		t.Fatal(err)
	}
	cut.Store(false)
	away.Store(false)
	shows(t, g, key, 60, 0, 60, 0)
	if err := g.Replay(t.Context()); err != nil {
		t.Fatal(err)
	}
	shows(t, g, key, 60, 0, 60, 0)
}

// While PostgreSQL hangs, a gateway that reaps another does not wait for it without end: it has to say
// again what it knows if the engine fails.
func TestReapingDoesNotWaitForAPostgreSQLThatHangs(t *testing.T) {
	address, err := url.Parse(enginetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	way := enginetest.NewProxy(t, address.Host)
	address.Host = way.Addr
	db, err := postgres.Open(address.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	t.Cleanup(way.Cut)
	if err := db.Migrate(t.Context(), postgres.WriterSchema, valkey.PostgresSchema); err != nil {
		t.Fatal(err)
	}
	g := join(t, enginetest.Redis(t).Addr, "a", nil, valkey.LedgerConfig{DB: db})
	way.Hold()
	patience, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := g.Reap(patience, "dead.1"); err == nil || patience.Err() != nil {
		t.Errorf("reaping: %v, %v", err, patience.Err())
	}
}

// More settlements of a dead gateway than are read at once are all said again, also those of one moment.
// Without a failover in the last minutes none is.
func TestManySettlementsOfADeadGatewayAreSaidAgain(t *testing.T) {
	t.Parallel() // it waits for the end of a lease
	for _, failover := range []bool{true, false} {
		db, writers := openBook(t, "dead")
		clock, key := enginetest.NewClock(time.Now()), keyA(t)
		g := join(t, enginetest.Redis(t).Addr, "a", clock, valkey.LedgerConfig{DB: db})
		reply, err := g.node.Engine().Do(t.Context(), "GET", g.node.Key("era"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := reply.ToString()
		if err != nil {
			t.Fatal(err)
		}
		_, at, _ := strings.Cut(text, " ")
		era, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		begins, _ := limits.Monthly.Span(clock.Now())
		lines := []valkey.BookLine{{key.Name, "usd/month", limits.Monthly.Name(begins), 1, 1}, {key.Name, "usd/total", "all", 1, 1}}
		const calls = 2*valkey.ReceiptsRows + 1
		for i := range calls {
			writers["dead"].Append("ledger", valkey.AppendReceipt(fmt.Sprint("call-", i), limits.Amount{Nano: 1}, era+1, lines))
			if err := writers["dead"].Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		want := int64(calls)
		if !failover {
			clock.Move(6 * time.Minute)
			want = 0
			if _, err := db.Pool().Exec(t.Context(), "DROP TABLE ledger_receipts"); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.Reap(t.Context(), "dead.1"); err != nil {
			t.Fatal(err)
		}
		shows(t, g, key, want, 0, want, 0)
	}
}

// Receipts that have piled up while PostgreSQL was slow are deleted in steps: a beat has a second.
func TestOldReceiptsAreDeletedInSteps(t *testing.T) {
	db, _ := openBook(t)
	g := join(t, enginetest.Redis(t).Addr, "a", nil, valkey.LedgerConfig{DB: db})
	count := func() (n int) {
		t.Helper()
		if err := db.Pool().QueryRow(t.Context(), "SELECT count(*) FROM ledger_receipts").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const old = 2*valkey.ReceiptsBatch + 1
	if _, err := db.Pool().Exec(t.Context(), "INSERT INTO ledger_receipts SELECT 'a', i, '' FROM generate_series(1, $1) AS i", old); err != nil {
		t.Fatal(err)
	}
	left := []int{old - valkey.ReceiptsBatch, old - 2*valkey.ReceiptsBatch, 0}
	for i, want := range left {
		if err := g.Prune(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if n := count(); n != want {
			t.Errorf("beat %d leaves %d receipts, want %d", i+1, n, want)
		}
	}
}
