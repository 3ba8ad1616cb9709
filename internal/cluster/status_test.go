package cluster_test

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/enginetest"
)

func TestTheStatusNamesNodesAndTheEngine(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	a, _ := join(t, "a", at(e), nil), join(t, "b", at(e), nil)
	within(t, time.Second, "two nodes", func() bool { return len(a.Status().Nodes) == 2 && a.Status().Engine.Address != "" })
	s := a.Status()
	if s.State != "whole" || !s.Engine.Up || s.Engine.Address != e.Addr || s.Engine.Role != "master" || s.Engine.Epoch == "" || s.Nodes[1].Left <= 0 {
		t.Errorf("%+v", s)
	}
	text, err := json.Marshal(s)
	if err != nil || !strings.Contains(string(text), `"lease_s":0.`) {
		t.Errorf("%s, %v", text, err)
	}
	e.Kill()
	within(t, 5*time.Second, "the engine is down", func() bool { s = a.Status(); return !s.Engine.Up && s.Engine.Reason != "" && s.Failure != "" })
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
			if n.Name == "b" {
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
