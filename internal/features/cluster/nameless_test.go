package cluster

import (
	"net/netip"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// A viewer that sent no host name may reach another gateway when it connects again.
func TestAViewerWithoutANameIsKnownToAllNodesUntilOneAsksIt(t *testing.T) {
	addr := enginetest.Redis(t).Addr
	heard := make(chan string, 10)
	join := func(name string) (*connlimit.Limiter, *cluster.Node) {
		engine := valkey.New(valkey.Config{Addresses: []string{addr}})
		t.Cleanup(engine.Close)
		node, limiter := cluster.New(cluster.Config{Name: "test", Node: name, Engine: engine, Logger: zap.NewNop()}), connlimit.New(time.Now)
		shareNameless(limiter, node, name)
		node.On("told", func(string) { heard <- name })
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(node.Stop)
		return limiter, node
	}
	a, node := join("a")
	b, _ := join("b")
	// told waits until both nodes have heard what was published.
	told := func() {
		t.Helper()
		if err := node.Publish(t.Context(), "told", ""); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			select {
			case <-heard:
			case <-time.After(10 * time.Second):
				t.Fatal("an event is not heard")
			}
		}
	}
	viewer, neighbour := netip.MustParseAddr("::ffff:192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	a.AddNameless(viewer)
	told()
	if b.TakeNameless(neighbour) || !b.TakeNameless(viewer) {
		t.Error("the other node does not know the viewer, or knows one too many")
	}
	told()
	if a.TakeNameless(viewer) || b.TakeNameless(viewer) {
		t.Error("it is asked once more")
	}
	a.AddNameless(neighbour)
	told()
	if !a.TakeNameless(neighbour) {
		t.Error("a node has forgotten a viewer of its own")
	}
}
