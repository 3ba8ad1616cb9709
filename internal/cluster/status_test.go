package cluster_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

func TestTheStatusNamesNodesAndTheEngine(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	a, _ := join(t, "a", at(e), nil), join(t, "b", at(e), nil)
	within(t, 5*time.Second, "two nodes", func() bool { return len(a.Status().Nodes) == 2 && a.Status().Server.Address != "" })
	s := a.Status()
	if s.Err != nil || s.Recovering || !s.Engine.Up || s.Server.Address != e.Addr || s.Server.Role != "master" || s.Epoch == "" {
		t.Errorf("%+v", s)
	}
	if b := s.Nodes[1]; b.ID != "b.1" || !b.Ends.After(a.Now()) || b.Since.After(a.Now()) {
		t.Errorf("%+v", b)
	}
	e.Kill()
	within(t, 5*time.Second, "the engine is down", func() bool { s = a.Status(); return !s.Engine.Up && s.Engine.Reason != "" && s.Err != nil })
}

func TestTheStatusNamesWhoIsWaitedFor(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t, "appendonly", "yes", "appendfsync", "always")
	long := func(c *cluster.Config) { c.Lease = 3 * time.Second } // longer than the restart of an engine takes
	a, b := join(t, "a", at(e), long), join(t, "b", at(e), long)
	within(t, 5*time.Second, "two nodes", func() bool { return len(a.Nodes()) == 2 })
	b.fails("replay", errors.New("it hangs"))
	e.Kill()
	e.MustStart(t)
	within(t, 5*time.Second, "it waits", func() bool {
		s := a.Status()
		return s.Recovering && slices.Equal(s.WaitingFor, []string{"b"})
	})
	whole(t, a)
	if s := a.Status(); s.Recovering || s.WaitingFor != nil {
		t.Errorf("%+v", s)
	}
}

func TestLimitsThatStayDifferentAreLoggedOnce(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.WarnLevel)
	e := enginetest.Redis(t)
	var changed atomic.Bool
	hash := func() string {
		if changed.Load() {
			return "new"
		}
		return "old"
	}
	a := join(t, "a", at(e), func(c *cluster.Config) { c.Hash, c.Logger = func() string { return "old" }, zap.New(core) })
	join(t, "b", at(e), func(c *cluster.Config) { c.Hash = hash })
	differs := func() bool {
		for _, n := range a.Status().Nodes {
			if n.ID == "b.1" {
				return n.Differs
			}
		}
		return false
	}
	within(t, time.Second, "two nodes", func() bool { return len(a.Nodes()) == 2 })
	if differs() {
		t.Error("the same limits differ")
	}
	changed.Store(true)
	within(t, time.Second, "they differ", differs)
	changed.Store(false)
	within(t, time.Second, "they are the same", func() bool { return !differs() })
	if n := logs.FilterMessageSnippet("limits of nodes differ").Len(); n != 1 {
		t.Errorf("logged %d times", n)
	}
}
