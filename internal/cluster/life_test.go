package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// A lease that was lost with all data is taken again before a beat says that the ledger is lost too.
func TestANewLeaseIsNotWholeBeforeItsFirstBeat(t *testing.T) {
	t.Parallel()
	engine := valkey.New(valkey.Config{Addresses: []string{enginetest.Redis(t).Addr}})
	defer engine.Close()
	n := New(Config{Name: "prod", Node: "a", Engine: engine, Logger: zap.NewNop(), Beat: time.Hour})
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Stop()
	if _, err := engine.Do(t.Context(), "FLUSHALL", "SYNC"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n.healthy() {
		t.Error("the node takes itself for whole")
	}
	if err := n.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.Await(t.Context()); err != nil {
		t.Error(err)
	}
}

// Two nodes beat at fixed times, so that one of them is always the first after the time of a lease. A
// dead node is given to the other too: only that one may be able to clear it away.
func TestADeadNodeIsNotGivenToTheSameNodeForEver(t *testing.T) {
	t.Parallel()
	addr := enginetest.Redis(t).Addr
	var now atomic.Int64
	now.Store(time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC).UnixMicro())
	join := func(name string) *Node {
		engine := valkey.New(valkey.Config{Addresses: []string{addr}})
		n := New(Config{Name: "prod", Node: name, Engine: engine, Logger: zap.NewNop(), Beat: time.Hour, Now: func() time.Time { return time.UnixMicro(now.Load()) }})
		n.Join(Part{Name: "test", Reap: func(context.Context, string) error { return errors.New("not now") }})
		t.Cleanup(func() { n.Stop(); engine.Close() })
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		return n
	}
	join("dead")
	nodes := []*Node{join("a"), join("b")}
	given := make([]int, len(nodes))
	for i := range 600 {
		n := i % len(nodes)
		now.Add([]int64{500_000, 1_500_000}[n] + int64(i*617%1000)) // microseconds; no beat is exact
		beat(t, nodes[n])
		nodes[n].mu.Lock()
		if nodes[n].state.last.dead == "dead.1" {
			given[n]++
		}
		nodes[n].mu.Unlock()
	}
	if least := 3; given[0] < least || given[1] < least {
		t.Errorf("given to the nodes %d times", given)
	}
}

// beat has the node's own goroutine beat once more.
func beat(t *testing.T, n *Node) {
	t.Helper()
	last := func() time.Time {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.state.at
	}
	before := last()
	wake(n.beatNow)
	enginetest.Within(t, 5*time.Second, "the node beats", func() bool { return last().After(before) })
}

func TestANodeThatStartsHasNoOtherLimits(t *testing.T) {
	for _, c := range []struct {
		own, other string
		differs    bool
	}{{"a", "b", true}, {"a", "a", false}, {"a", "", false}, {"", "b", false}} {
		v := view{last: answer{peers: []peer{{id: "other.1", config: c.other}}}}
		logged := 0
		for range 3 {
			logged += len(v.compare(c.own))
		}
		if logged > 0 != c.differs {
			t.Errorf("%q and %q: logged %d times", c.own, c.other, logged)
		}
	}
}
