package valkey_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	valkeyclient "github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// late keeps rows of the book until it is flushed.
type late struct {
	valkey.Writer
	mu   sync.Mutex
	rows [][]byte
}

func (l *late) Append(_ string, row []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = append(l.rows, row)
}

func (l *late) Flush(ctx context.Context) error {
	l.mu.Lock()
	rows := l.rows
	l.rows = nil
	l.mu.Unlock()
	for _, row := range rows {
		l.Writer.Append("ledger", row)
	}
	return l.Writer.Flush(ctx)
}

// dying joins a gateway whose lease is short.
func dying(t *testing.T, addr, name string, c valkey.LedgerConfig) gateway {
	t.Helper()
	engine := valkeyclient.New(valkeyclient.Config{Addresses: []string{addr}})
	t.Cleanup(engine.Close)
	c.Node = cluster.New(cluster.Config{Name: "test", Node: name, Engine: engine, Logger: zap.NewNop(), Lease: 900 * time.Millisecond, Beat: 60 * time.Millisecond})
	c.Logger = zap.NewNop()
	l := valkey.NewLedger(c)
	if err := c.Node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Node.Stop)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = l.Close(ctx)
	})
	return gateway{l, c.Node, nil}
}

// A gateway that was cut off while the engine lost everything says nothing again that the book has, and
// leaves nothing out that only it knows: whether it comes back to the same engine or to another.
func TestAGatewayThatMissedALossOfAllDataIsCountedOnce(t *testing.T) {
	t.Parallel() // it waits for the end of a lease
	for _, failover := range []bool{false, true} {
		engine, key := enginetest.Redis(t, "dbfilename", "dump.rdb"), keyA(t)
		way := enginetest.NewProxy(t, engine.Addr)
		db, writers := openBook(t, "a", "b")
		unwritten := &late{Writer: writers["b"]}
		a := dying(t, engine.Addr, "a", valkey.LedgerConfig{Writer: writers["a"], DB: db})
		b := dying(t, way.Addr, "b", valkey.LedgerConfig{Writer: unwritten, DB: db})
		hold(t, b, "in the book", 100, key)
		settle(t, b, "in the book", 60)
		flushed(t, b)
		if err := unwritten.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		hold(t, b, "not in the book", 100, key)
		settle(t, b, "not in the book", 7)
		shows(t, b, key, 67, 0, 67, 0)

		way.Hold()
		flush(t, engine.Addr)
		hold(t, a, "after the loss", 10, key) // the other one is waited for as long as its lease lives
		shows(t, a, key, 60, 10, 60, 10)
		if failover {
			save(t, engine.Addr)
			engine.Kill()
			engine.MustStart(t)
			shows(t, a, key, 60, 10, 60, 10)
		}
		way.Pass()
		within(t, 10*time.Second, "all of it counts, once", func() bool {
			balances, err := a.Status(t.Context(), a.node.Now(), []limits.Subject{key})
			return err == nil && balances[0].Spent == 67 && b.node.Status().Err == nil
		})
		hold(t, b, "back", 1, key)
		shows(t, b, key, 67, 11, 67, 11)
	}
}
