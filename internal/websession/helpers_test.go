//go:build unix

package websession_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

var (
	life = websession.Life{Idle: time.Hour, Max: 12 * time.Hour}
	ops  = websession.Session{Tenant: "default", Key: "ops", KeyHash: "11"}
)

// pair is a gateway where people sign in and one that they come to later: the same, or two.
type pair struct {
	*enginetest.Clock
	a, b websession.Store
	poll func(*testing.T) // both poll what they watch
}

// onBoth runs a test on one gateway, and on two that share an engine.
func onBoth(t *testing.T, f func(t *testing.T, g pair)) {
	t.Run("one gateway", func(t *testing.T) {
		c := enginetest.NewClock(time.Now())
		m := websession.NewMemory(c.Now)
		f(t, pair{c, m, m, func(*testing.T) {}}) // it looks by itself
	})
	t.Run("two gateways", func(t *testing.T) {
		c, redis := enginetest.NewClock(time.Now()), enginetest.Redis(t)
		a, b := gateway(t, c, redis.Addr, "a"), gateway(t, c, redis.Addr, "b")
		f(t, pair{c, a.Shared, b.Shared, func(t *testing.T) {
			a.poll(t)
			b.poll(t)
		}})
	})
}

// shared is a gateway of several.
type shared struct {
	*websession.Shared
	node *node
}

// node is one whose beats are the test's, and which counts messages.
type node struct {
	*cluster.Node
	part cluster.Part
	deaf bool // events are lost
	mu   sync.Mutex
	sent int
}

func (n *node) Join(p cluster.Part) { n.part = p }

func (n *node) On(kind string, f func(string)) {
	n.Node.On(kind, func(text string) {
		n.mu.Lock()
		deaf := n.deaf
		n.mu.Unlock()
		if !deaf {
			f(text)
		}
	})
}

func (n *node) lose() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.deaf = true
}

func (n *node) Run(ctx context.Context, s *valkey.Script, args ...string) (valkey.Reply, error) {
	n.sent++
	return n.Node.Run(ctx, s, args...)
}

func gateway(t *testing.T, c *enginetest.Clock, redis, name string) shared {
	t.Helper()
	client := valkey.New(valkey.Config{Addresses: []string{redis}})
	n := &node{Node: cluster.New(cluster.Config{Name: "test", Node: name, Engine: client, Logger: zap.NewNop(), Now: c.Now, Beat: time.Hour})}
	s := websession.NewShared(n, c.Now)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.Stop()
		client.Close()
	})
	return shared{s, n}
}

func (g shared) poll(t *testing.T) {
	t.Helper()
	if err := g.node.part.Beat(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, s websession.Store, x websession.Session) string {
	t.Helper()
	id, err := s.Create(t.Context(), x, life)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func find(t *testing.T, s websession.Store, id string, life websession.Life) (websession.Session, bool) {
	t.Helper()
	x, ok, err := s.Find(t.Context(), id, life)
	if err != nil {
		t.Fatal(err)
	}
	return x, ok
}

// lives reports whether a session does; to find out is to use it.
func lives(t *testing.T, s websession.Store, id string) bool {
	t.Helper()
	_, ok := find(t, s, id, life)
	return ok
}

// never is a desktop that nobody uses.
func never() time.Time { return time.Time{} }

// counter counts what is called.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

func (c *counter) want(t *testing.T, n int) {
	t.Helper()
	enginetest.Within(t, 5*time.Second, fmt.Sprintf("the end is told %d times", n), func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.n == n
	})
}
