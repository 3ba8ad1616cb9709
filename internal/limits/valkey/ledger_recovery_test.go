package valkey_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// within waits until a condition holds.
func within(t testing.TB, d time.Duration, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("not within %v: %s", d, what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// shows expects spent and reserved of each budget of a key, once the engine answers.
func shows(t testing.TB, g gateway, key limits.Subject, want ...int64) {
	t.Helper()
	var got []int64
	within(t, 10*time.Second, fmt.Sprintf("spent and reserved are %v", want), func() bool {
		balances, err := g.Status(t.Context(), g.node.Now(), []limits.Subject{key})
		if err != nil {
			return false
		}
		got = got[:0]
		for _, b := range balances {
			got = append(got, b.Spent, b.Reserved)
		}
		return true
	})
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("spent and reserved %v, want %v", got, want)
	}
}

func hold(t testing.TB, g gateway, call string, nano int64, key limits.Subject) {
	t.Helper()
	refusal, err := g.Reserve(t.Context(), limits.ReserveRequest{
		Call: call, At: g.node.Now(), Most: limits.Amount{Nano: nano}, Subjects: []limits.Subject{key}, Durable: true, Timeout: 10 * time.Second,
	})
	if refusal != nil || err != nil {
		t.Fatalf("%s: %+v, %v", call, refusal, err)
	}
}

func settle(t testing.TB, g gateway, call string, nano int64) {
	t.Helper()
	if err := g.Settle(t.Context(), call, limits.Amount{Nano: nano}); err != nil {
		t.Fatal(err)
	}
}

// save makes an engine write its data to disk.
func save(t testing.TB, addr string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	answer := make([]byte, 5)
	if _, err := io.WriteString(c, "SAVE\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "+OK\r\n" {
		t.Fatalf("%q, %v", answer, err)
	}
}

func keyA(t testing.TB) limits.Subject {
	return limits.Subject{Name: "key:a", Budgets: []limits.Budget{budget(t, "1usd/month"), budget(t, "1usd/total")}}
}

// An engine that comes back with an older state gets what it has lost, once: settlements by their marks,
// calls under way by their holds.
func TestWhatAnEngineHasLostIsSaidAgain(t *testing.T) {
	engine := enginetest.Redis(t, "dbfilename", "dump.rdb")
	book, key := newMemory(), keyA(t)
	a := join(t, engine.Addr, "a", nil, valkey.LedgerConfig{Writer: book})
	b := join(t, engine.Addr, "b", nil, valkey.LedgerConfig{Writer: book})
	hold(t, a, "settled", 100, key)
	settle(t, a, "settled", 60)
	hold(t, a, "settlement lost", 200, key)
	hold(t, b, "kept", 300, key)
	shows(t, a, key, 60, 500, 60, 500)
	save(t, engine.Addr)
	settle(t, a, "settlement lost", 150)
	hold(t, a, "all lost", 1000, key)
	settle(t, a, "all lost", 700)
	hold(t, b, "hold lost", 5000, key)
	hold(t, b, "given back", 9000, key)
	settle(t, b, "given back", 0)
	flushed(t, a)
	shows(t, b, key, 910, 5300, 910, 5300)
	engine.Kill()
	engine.MustStart(t)
	hold(t, a, "after", 10, key) // waits for the replay
	shows(t, a, key, 910, 5310, 910, 5310)
	settle(t, a, "after", 0)
	shows(t, a, key, 910, 5300, 910, 5300)
	settle(t, b, "kept", 30)
	settle(t, b, "hold lost", 50)
	shows(t, b, key, 990, 0, 990, 0)
	if got := book.of("key:a", "usd/total", "all"); got != 990 {
		t.Errorf("the book has %d", got)
	}
}

// An engine that comes back with nothing gets the balances from the book, and the calls under way from
// the gateways.
func TestAnEmptyEngineIsFilledFromTheBook(t *testing.T) {
	engine, key := enginetest.Redis(t), keyA(t)
	db, writers := openBook(t, "a", "b")
	a := join(t, engine.Addr, "a", nil, valkey.LedgerConfig{Writer: writers["a"], DB: db})
	b := join(t, engine.Addr, "b", nil, valkey.LedgerConfig{Writer: writers["b"], DB: db})
	for i := range 20 {
		g := []gateway{a, b}[i%2]
		hold(t, g, fmt.Sprint("call-", i), 100, key)
		settle(t, g, fmt.Sprint("call-", i), int64(i))
	}
	hold(t, a, "under way at a", 1000, key)
	hold(t, b, "under way at b", 2000, key)
	flushed(t, a)
	shows(t, b, key, 190, 3000, 190, 3000)
	engine.Kill()
	engine.MustStart(t)
	settle(t, b, "under way at b", 7) // waits in the outbox
	hold(t, a, "after", 10, key)
	within(t, 10*time.Second, "the other gateway has settled", func() bool {
		balances, err := b.Status(t.Context(), b.node.Now(), []limits.Subject{key})
		return err == nil && balances[0].Spent == 197
	})
	shows(t, b, key, 197, 1010, 197, 1010)
	settle(t, a, "under way at a", 3)
	settle(t, a, "after", 0)
	shows(t, a, key, 200, 0, 200, 0)
	names, err := a.Subjects(t.Context(), a.node.Now())
	if err != nil || fmt.Sprint(names) != "[key:a]" {
		t.Errorf("subjects are %q, %v", names, err)
	}
	for _, w := range writers {
		if err := w.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"usd/month", "usd/total"} {
		if spent, calls := spentInBook(t, db, "key:a", name); spent != 200 || calls != 21 {
			t.Errorf("the book has %d of %d calls in %s", spent, calls, name)
		}
	}
}

// A gateway whose lease has ended states its calls under a new ID. Who reaps the old one finds nothing.
func TestAGatewayThatWasTakenForDeadStatesItsCalls(t *testing.T) {
	engine, key := enginetest.Redis(t), keyA(t)
	a := join(t, engine.Addr, "a", nil, valkey.LedgerConfig{})
	b := join(t, engine.Addr, "b", nil, valkey.LedgerConfig{Crashed: func(c limits.Crash) { t.Errorf("crashed: %+v", c) }})
	hold(t, a, "1", 100, key)
	before := a.node.ID()
	bury(t, a)
	hold(t, a, "2", 10, key) // finds out
	if a.node.ID() == before {
		t.Error("the ID is the same")
	}
	if err := b.Reap(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	shows(t, a, key, 0, 110, 0, 110)
	settle(t, a, "1", 1)
	settle(t, a, "2", 2)
	shows(t, a, key, 3, 0, 3, 0)
}

// While the engine does not answer, hard budgets refuse at their time and soft ones go on. What was used
// is charged when it answers.
func TestCallsWithoutTheEngine(t *testing.T) {
	engine, key, book := enginetest.Redis(t), keyA(t), newMemory()
	g := join(t, engine.Addr, "a", nil, valkey.LedgerConfig{Writer: book})
	hold(t, g, "before", 100, key)
	shows(t, g, key, 0, 100, 0, 100)
	if err := engine.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	timeout := 300 * time.Millisecond
	ask := func(call string, durable bool) (*limits.Reservation, time.Duration, error) {
		began := time.Now()
		r, refusal, err := limits.Reserve(t.Context(), g, limits.ReserveRequest{
			Call: call, At: time.Now(), Most: limits.Amount{Nano: 50}, Likely: limits.Amount{Nano: 50}, Subjects: []limits.Subject{key},
			Durable: durable, Timeout: timeout,
		})
		if refusal != nil {
			t.Errorf("%s: refused: %+v", call, refusal)
		}
		return r, time.Since(began), err
	}
	if refusal, err := g.Exhausted(t.Context(), time.Now(), []limits.Subject{{Name: "key:unknown", Budgets: key.Budgets}}); refusal != nil || err != nil {
		t.Errorf("the check before a call: %+v, %v", refusal, err)
	}
	if _, took, err := ask("hard", true); !errors.Is(err, limits.ErrAway) || took > time.Second {
		t.Errorf("hard: %v after %v", err, took)
	}
	within(t, 10*time.Second, "the engine is known to be away", func() bool {
		_, _, _ = ask("another", true)
		return !g.node.Engine().Stats().Up
	})
	timeout = 10 * time.Second // it is not used up
	if _, took, err := ask("hard again", true); !errors.Is(err, limits.ErrAway) || took >= 2*time.Second {
		t.Errorf("hard, when the engine is known to be away: %v after %v", err, took)
	}
	soft, took, err := ask("soft", false)
	if err != nil || took > time.Second {
		t.Fatalf("soft: %v after %v", err, took)
	}
	if err := soft.Settle(t.Context(), limits.Amount{Nano: 33}); err != nil {
		t.Error(err)
	}
	settle(t, g, "before", 44)
	if _, err := g.Status(t.Context(), time.Now(), []limits.Subject{key}); !errors.Is(err, limits.ErrUnavailable) {
		t.Errorf("status: %v", err)
	}
	if err := engine.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	shows(t, g, key, 77, 0, 77, 0)
	if got := book.of("key:a", "usd/total", "all"); got != 77 {
		t.Errorf("the book has %d", got)
	}
}

// The answer to a reservation comes from a master that is no more: the new one has nothing of it, and the
// gateway has said again what it holds. The reservation is made again.
func TestAReservationOfAnEngineThatIsNoMoreIsMadeAnew(t *testing.T) {
	engine, key := enginetest.Redis(t), keyA(t)
	a := join(t, engine.Addr, "a", nil, valkey.LedgerConfig{})
	hold(t, a, "before", 5, key)
	a.AfterReserving(func() {
		for _, lost := range []string{"h:lost", "h:before", "c:" + a.node.ID(), "a:key:a/usd/month", "a:key:a/usd/total"} {
			if _, err := a.node.Engine().Do(t.Context(), "DEL", a.node.Key(lost)); err != nil {
				t.Error(err)
			}
		}
		if err := a.Replay(t.Context()); err != nil {
			t.Error(err)
		}
	})
	hold(t, a, "lost", 100, key)
	shows(t, a, key, 0, 105, 0, 105)
}
