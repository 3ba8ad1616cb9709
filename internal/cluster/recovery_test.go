package cluster_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// whole waits until all nodes run scripts again, and returns how long it took.
func whole(t *testing.T, members ...member) time.Duration {
	t.Helper()
	start := time.Now()
	for _, m := range members {
		within(t, 10*time.Second, "node "+m.ID()+" is whole", func() bool { return m.ok(t.Context()) == nil })
	}
	return time.Since(start)
}

func TestARestartedEngineHearsAgainWhatItMayHaveLost(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t, "appendonly", "yes", "appendfsync", "everysec")
	a, b := join(t, "a", at(e), nil), join(t, "b", at(e), nil)
	if !a.has("load") || b.has("load") || b.has("replay") {
		t.Errorf("first start: %v, %v", a.all(), b.all())
	}
	e.Stop()
	e.MustStart(t)
	t.Log("whole after", whole(t, a, b))
	for _, m := range []member{a, b} {
		if m.count("replay") != 1 {
			t.Errorf("%s: %v", m.ID(), m.all())
		}
	}
}

func TestAnEmptyEngineIsLoadedByOneNode(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	a, b := join(t, "a", at(e), nil), join(t, "b", at(e), nil)
	within(t, time.Second, "two nodes", func() bool { return len(a.Nodes()) == 2 && len(b.Nodes()) == 2 })
	for _, m := range []member{a, b} {
		m.forget()
		m.fails("load", errors.New("PostgreSQL is down"))
	}
	e.Kill()
	e.MustStart(t)
	within(t, 10*time.Second, "a load is tried", func() bool { return a.has("load failed") || b.has("load failed") })
	if err := a.ok(t.Context()); !errors.Is(err, cluster.ErrFenced) {
		t.Errorf("before the load: %v", err)
	}
	for _, m := range []member{a, b} {
		m.fails("load", nil)
	}
	whole(t, a, b)
	if n := a.count("load") + b.count("load"); n != 1 {
		t.Errorf("it was loaded %d times", n)
	}
	for _, m := range []member{a, b} {
		calls := m.all()
		if load, replay := slices.Index(calls, "load"), slices.Index(calls, "replay all"); replay < 0 || load > replay {
			t.Errorf("%s: %v", m.ID(), calls)
		}
	}
}

func TestANodeThatDoesNotAnswerIsNotWaitedForLong(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t, "appendonly", "yes", "appendfsync", "always")
	a, b := join(t, "a", at(e), nil), join(t, "b", at(e), nil)
	within(t, time.Second, "two nodes", func() bool { return len(a.Nodes()) == 2 })
	b.fails("replay", errors.New("it hangs"))
	e.Kill()
	e.MustStart(t)
	whole(t, a)
	within(t, 10*time.Second, "the other is fenced", func() bool { // its client first finds the engine again
		err := b.ok(t.Context())
		if err == nil {
			t.Fatal("the node that has not replayed is whole")
		}
		return errors.Is(err, cluster.ErrFenced)
	})
	b.fails("replay", nil)
	whole(t, b)
}

func TestAFlushedEngineIsLoadedAgain(t *testing.T) {
	t.Parallel()
	a := join(t, "a", at(enginetest.Redis(t)), nil)
	if _, err := a.engine.Do(t.Context(), "FLUSHALL", "SYNC"); err != nil {
		t.Fatal(err)
	}
	if err := a.ok(t.Context()); !errors.Is(err, cluster.ErrLeaseLost) {
		t.Errorf("%v", err)
	}
	if err := a.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.ok(t.Context()); err != nil || a.count("load") != 2 || a.count("rejoin") != 1 {
		t.Errorf("%v, %v", err, a.all())
	}
}

// A node that was cut off while the others have loaded an empty engine is wiped too: what it has settled
// is in the balances. They are loaded again when it has written what it knows.
func TestANodeThatComesLateAfterALossOfAllDataIsWipedToo(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	link := enginetest.NewProxy(t, e.Addr)
	a := join(t, "a", at(e), nil)
	b := join(t, "b", valkey.Config{Addresses: []string{link.Addr}}, nil)
	within(t, time.Second, "two nodes", func() bool { return len(a.Nodes()) == 2 })
	a.forget()
	b.forget()
	link.Cut()
	e.Kill()
	e.MustStart(t)
	whole(t, a)
	loads := a.count("load")
	if loads != 1 || a.has("replay") {
		t.Errorf("without the other: %v", a.all())
	}
	link.Pass()
	whole(t, b)
	whole(t, a)
	if calls := b.all(); b.has("replay") || !b.has("replay all") || slices.Index(calls, "flush") > slices.Index(calls, "replay all") {
		t.Errorf("the late node: %v", calls)
	}
	if a.count("load")+b.count("load") <= loads || a.count("flush") < 2 {
		t.Errorf("the balances were not loaded again: %v, %v", a.all(), b.all())
	}
}
