package cluster_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

func TestAScriptNeedsALease(t *testing.T) {
	t.Parallel()
	m := newMember(t, "a", at(enginetest.Redis(t)), nil)
	if err := m.ok(t.Context()); !errors.Is(err, cluster.ErrLeaseLost) {
		t.Errorf("before the start: %v", err)
	}
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.ok(t.Context()); err != nil {
		t.Error(err)
	}
	if m.ID() != "a.1" {
		t.Errorf("ID %q", m.ID())
	}
	m.Stop()
	if err := m.ok(t.Context()); !errors.Is(err, cluster.ErrLeaseLost) {
		t.Errorf("after the stop: %v", err)
	}
	if !m.has("reap a.1") {
		t.Errorf("a node that stops has not given back what it holds: %v", m.all())
	}
}

func TestNodesSeeEachOther(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	a, b := join(t, "a", at(e), nil), join(t, "b", at(e), nil)
	within(t, time.Second, "two nodes", func() bool { return len(a.Nodes()) == 2 && len(b.Nodes()) == 2 })
	b.Stop()
	within(t, time.Second, "one node", func() bool { return len(a.Nodes()) == 1 })
	if a.has("reap b.1") {
		t.Error("a node that has stopped was reaped")
	}
}

func TestADeadNodeIsReapedByOneOtherAndAgainAfterAnError(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	a := join(t, "a", at(e), func(c *cluster.Config) { c.Beat = beat / 10 }) // it is nearly always the first to ask
	b := join(t, "b", at(e), func(c *cluster.Config) { c.Beat = lease / 3 })
	a.fails("reap c.1", errors.New("not now"))
	dead := join(t, "c", at(e), nil)
	dead.engine.Close() // it cannot renew its lease
	within(t, 4*lease, "a node tries to reap it", func() bool { return a.has("reap c.1 failed") || b.has("reap c.1") })
	if a.has("reap c.1 failed") && b.has("reap c.1") {
		t.Error("two nodes reap it at once")
	}
	within(t, 5*lease, "the other one reaps it", func() bool { return b.has("reap c.1") })
	within(t, time.Second, "it is removed", func() bool { return !exists(t, b, "dead") })
}

func TestAPartThatCannotReapDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	a := newMember(t, "a", at(e), nil)
	a.fails("reap b.1", errors.New("PostgreSQL is down"))
	later := &part{}
	a.Join(cluster.Part{Name: "later", Reap: func(_ context.Context, dead string) error { return later.call("reap " + dead) }})
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	join(t, "b", at(e), nil).engine.Close()
	within(t, 30*lease, "the others are cleared away", func() bool { return later.has("reap b.1") })
	if !exists(t, a, "dead") {
		t.Error("the part that has failed is not asked again")
	}
}

func exists(t *testing.T, m member, key string) bool {
	t.Helper()
	reply, err := m.engine.Do(t.Context(), "EXISTS", m.Key(key))
	if err != nil {
		t.Fatal(err)
	}
	n, err := reply.ToInt64()
	if err != nil {
		t.Fatal(err)
	}
	return n == 1
}

func TestANodeThatWasTakenForDeadGoesOnWithANewID(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	a := join(t, "a", at(e), nil)
	if _, err := a.engine.Do(t.Context(), "ZREM", a.Key("nodes"), a.ID()); err != nil {
		t.Fatal(err)
	}
	if err := a.ok(t.Context()); !errors.Is(err, cluster.ErrLeaseLost) {
		t.Fatalf("without a lease: %v", err)
	}
	if err := a.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.ok(t.Context()); err != nil {
		t.Error(err)
	}
	if a.ID() != "a.2" || a.count("rejoin") != 1 {
		t.Errorf("ID %s, %v", a.ID(), a.all())
	}
}

func TestAStartAgainHasANewID(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	first := join(t, "a", at(e), nil)
	first.Stop()
	if second := join(t, "a", at(e), nil); second.ID() != "a.2" || second.has("rejoin") {
		t.Errorf("ID %s, %v", second.ID(), second.all())
	}
}

func TestANameOfALiveNodeIsRefused(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	// A process that has not beaten for a third of this time is dead, also on a busy machine.
	long := func(c *cluster.Config) { c.Lease = 6 * time.Second }
	first, second := join(t, "a", at(e), long), newMember(t, "a", at(e), long)
	if err := second.Start(t.Context()); !errors.Is(err, cluster.ErrNameTaken) {
		t.Fatalf("%v", err)
	}
	first.engine.Close() // killed
	if err := second.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "the first one is reaped", func() bool { return second.has("reap a.1") })
}

func TestANewerLayoutIsRefused(t *testing.T) {
	t.Parallel()
	m := newMember(t, "a", at(enginetest.Redis(t)), nil)
	if _, err := m.engine.Do(t.Context(), "SET", m.Key("v"), "2"); err != nil {
		t.Fatal(err)
	}
	if err := m.Start(t.Context()); !errors.Is(err, cluster.ErrLayout) {
		t.Errorf("%v", err)
	}
}

func TestTheClockIsTheEngines(t *testing.T) {
	t.Parallel()
	a := join(t, "a", at(enginetest.Redis(t)), nil)
	if d := time.Since(a.Now()).Abs(); d > 50*time.Millisecond {
		t.Errorf("%v away from an engine on this machine", d)
	}
}

func TestANodeStartsWithoutItsEngineAndJoinsLater(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	e.Kill()
	heard := make(chan string, 1)
	a := newMember(t, "a", at(e), nil)
	a.On("free", func(text string) { heard <- text })
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.ok(t.Context()); !errors.Is(err, valkey.ErrNotDone) {
		t.Errorf("%v", err)
	}
	if s := a.Status(); s.Engine.Up || s.Err == nil {
		t.Errorf("%+v", s)
	}
	e.MustStart(t)
	within(t, 5*time.Second, "it joins", func() bool { return a.ok(t.Context()) == nil })
	if !a.has("rejoin") {
		t.Error("what it held in the meantime is not stated")
	}
	// The stream is read again soon after; events are lost until then.
	within(t, 5*time.Second, "it hears", func() bool {
		if err := a.Publish(t.Context(), "free", "m1"); err != nil {
			return false
		}
		select {
		case <-heard:
			return true
		default:
			return false
		}
	})
}

func TestNothingRunsAfterTheStop(t *testing.T) {
	e := enginetest.Redis(t)
	before := runtime.NumGoroutine()
	for range 3 {
		m := newMember(t, "a", at(e), nil)
		if err := m.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		m.Stop()
		if took := time.Since(start); took > time.Second {
			t.Errorf("it stopped after %v", took)
		}
		m.engine.Close()
	}
	within(t, 3*time.Second, "all goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

func TestPartsBeatWhileNothingHasToBeHealed(t *testing.T) {
	t.Parallel()
	a := newMember(t, "a", at(enginetest.Redis(t)), nil)
	var beats atomic.Int64
	a.Join(cluster.Part{Name: "beats", Beat: func(ctx context.Context) error {
		beats.Add(1)
		if _, ok := ctx.Deadline(); !ok {
			t.Error("a beat may take without end")
		}
		return errors.New("not now")
	}})
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	within(t, 5*time.Second, "three beats", func() bool { return beats.Load() >= 3 })
	a.fails("rejoin", errors.New("not yet"))
	if _, err := a.engine.Do(t.Context(), "ZREM", a.Key("nodes"), a.ID()); err != nil {
		t.Fatal(err)
	}
	within(t, 5*time.Second, "it joins again", func() bool { return a.count("rejoin failed") > 0 })
	before := beats.Load()
	within(t, 5*time.Second, "it tries more often", func() bool { return a.count("rejoin failed") > 2 })
	if n := beats.Load(); n > before+1 { // one may be running
		t.Errorf("%d beats while the node was not whole", n-before)
	}
}
