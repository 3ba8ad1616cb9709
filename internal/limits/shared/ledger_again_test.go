package shared_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/shared"
)

// A gateway has settled a call and is cut off, from PostgreSQL too. The engine comes back without the
// settlement, and the call is charged as reserved. When the gateway is back, what it says again puts
// the charge right in the engine and in the book.
func TestASettlementThatIsSaidAgainPutsACrashRight(t *testing.T) {
	for _, said := range []string{"by the gateway", "by another"} {
		t.Run(said, func(t *testing.T) {
			engine, key := enginetest.Redis(t, "dbfilename", "dump.rdb"), keyA(t)
			way := enginetest.NewProxy(t, engine.Addr)
			db, writers := openBook(t, "a", "b")
			unwritten := &late{Writer: writers["a"]}
			a := dying(t, way.Addr, "a", shared.LedgerConfig{Writer: unwritten, DB: db})
			b := dying(t, engine.Addr, "b", shared.LedgerConfig{Writer: writers["b"], DB: db})
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

// The answer to a settlement is lost, and the engine is away for so long that it forgets the end of the
// call. When it answers at last, the settlement is as old as it is: it is not said again as a new one.
func TestASettlementThatWasAnsweredLateIsNotSaidAgain(t *testing.T) {
	clock, key := noon(), keyA(t)
	g := join(t, enginetest.Redis(t).Addr, "a", clock, shared.LedgerConfig{})
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
