package cluster_test

import (
	"errors"
	"testing"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

var guarded = cluster.NewScript("guarded", "return lease() or fence() or 'ok'")

func TestAScriptNeedsALease(t *testing.T) {
	engine := valkey.New(valkey.Config{Addresses: []string{enginetest.Redis(t).Addr}})
	defer engine.Close()
	node := cluster.New(cluster.Config{Name: "prod", Node: "a", Engine: engine, Logger: zap.NewNop()})
	if _, err := node.Run(t.Context(), guarded); !errors.Is(err, cluster.ErrLeaseLost) {
		t.Errorf("before the start: %v", err)
	}
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop()
	reply, err := node.Run(t.Context(), guarded)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := reply.ToString(); err != nil || text != "ok" {
		t.Errorf("%q, %v", text, err)
	}
}
