package valkey_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/limitstest"
	valkeyclient "github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// memory is a book in memory. Like PostgreSQL it takes a crash once, and takes back only what it has.
type memory struct {
	mu      sync.Mutex
	spent   map[[3]string]int64
	calls   map[[3]string]int64
	crashes map[string]bool
}

func newMemory() *memory {
	return &memory{spent: map[[3]string]int64{}, calls: map[[3]string]int64{}, crashes: map[string]bool{}}
}

func (m *memory) Append(_ string, row []byte) {
	crash, lines, err := valkey.ParseRow(row)
	if err != nil {
		panic(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if crash != "" && m.crashes[crash] {
		return
	}
	m.crashes[crash] = true
	if call, ok := strings.CutSuffix(crash, " has settled"); ok && !m.crashes[call] {
		m.crashes[call] = true
		return
	}
	for _, l := range lines {
		key := [3]string{l.Subject, l.Budget, l.Period}
		m.spent[key] += l.Spent
		m.calls[key] += l.Calls
	}
}

func (m *memory) Flush(context.Context) error { return nil }

// of returns what the book has of an account.
func (m *memory) of(subject, budget, period string) (spent int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent[[3]string{subject, budget, period}]
}

// gateway is one of a cluster.
type gateway struct {
	*valkey.Ledger
	node  *cluster.Node
	clock *enginetest.Clock
}

// Reserve moves the clock to when the call is admitted: a period must have begun.
func (g gateway) Reserve(ctx context.Context, r limits.ReserveRequest) (*limits.Refusal, error) {
	if g.clock != nil && r.At.Year() < 2030 {
		g.clock.AtLeast(r.At)
	}
	return g.Ledger.Reserve(ctx, r)
}

// join starts a gateway at an engine. Its lease does not end: the clock of a test jumps.
func join(t testing.TB, addr, name string, now *enginetest.Clock, c valkey.LedgerConfig) gateway {
	t.Helper()
	engine := valkeyclient.New(valkeyclient.Config{Addresses: []string{addr}})
	t.Cleanup(engine.Close)
	config := cluster.Config{Name: "test", Node: name, Engine: engine, Logger: zap.NewNop()}
	if now != nil {
		c.Now = now.Now
		config.Now, config.Lease, config.Beat = now.Now, 100*365*24*time.Hour, time.Hour
	}
	c.Node = cluster.New(config)
	if c.Writer == nil {
		c.Writer = newMemory()
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
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
	return gateway{l, c.Node, now}
}

func noon() *enginetest.Clock { return enginetest.NewClock(limitstest.Noon) }

func flush(t testing.TB, addr string) {
	t.Helper()
	engine := valkeyclient.New(valkeyclient.Config{Addresses: []string{addr}})
	defer engine.Close()
	if _, err := engine.Do(t.Context(), "FLUSHALL", "SYNC"); err != nil {
		t.Fatal(err)
	}
}
