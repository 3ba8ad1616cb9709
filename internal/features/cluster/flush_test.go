package cluster

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

func TestNodesAnswerTheNumbersOfFlushes(t *testing.T) {
	addr := enginetest.Redis(t).Addr
	join := func(name string) flushes {
		engine := valkey.New(valkey.Config{Addresses: []string{addr}})
		t.Cleanup(engine.Close)
		node := cluster.New(cluster.Config{Name: "test", Node: name, Engine: engine, Logger: zap.NewNop()})
		f := flushes{node}
		f.on(func(number int64) {
			if err := f.Answer(context.Background(), number); err != nil {
				t.Error(err)
			}
		})
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(node.Stop)
		return f
	}
	a := join("a")
	if !a.Alone() {
		t.Error("a node without others is not alone")
	}
	b := join("b")
	last := int64(0)
	for range 3 {
		number, err := b.Ask(t.Context())
		if err != nil || number <= last {
			t.Fatalf("the number is %d after %d, %v", number, last, err)
		}
		last = number
		for deadline := time.Now().Add(10 * time.Second); ; {
			done, err := b.Answered(t.Context(), number)
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("not answered, %v", err)
			}
			if done && !b.Alone() {
				break
			}
			<-time.After(5 * time.Millisecond)
		}
		if done, err := b.Answered(t.Context(), number+1); done || err != nil {
			t.Errorf("a number that was not asked is answered, %v", err)
		}
		if _, err := b.node.Engine().Do(t.Context(), "DEL", b.node.Key("fl")); err != nil { // the engine loses it
			t.Fatal(err)
		}
	}
}
