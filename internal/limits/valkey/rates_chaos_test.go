package valkey_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// fragile is a gateway that can be cut off from the engine for good or for a while.
type fragile struct {
	*peer
	way     *enginetest.Proxy
	paused  bool
	permits []*limits.Permit
}

func fragileAt(t *testing.T, e *enginetest.Engine, name string) *fragile {
	way := enginetest.NewProxy(t, e.Addr)
	return &fragile{peer: startedWith(t, way.Addr, named(name), 20*time.Millisecond), way: way}
}

// release ends a call, whether it has its slots or waits for them.
func (g *fragile) release(random *rand.Rand) {
	if n := len(g.permits); n > 0 {
		i := random.IntN(n)
		g.permits[i].Release()
		g.permits[i] = g.permits[n-1]
		g.permits = g.permits[:n-1]
	}
}

// Three gateways enter and end calls at random, are paused and killed, and the engine forgets all.
// When their calls have ended, all slots are free, and nothing is left in the engine.
func TestNoSlotIsLostInChaos(t *testing.T) {
	operations := amount(600, 5000)
	e := enginetest.Redis(t)
	random := rand.New(rand.NewPCG(1, 2))
	names := 0
	next := func() *fragile {
		names++
		return fragileAt(t, e, "n"+strconv.Itoa(names))
	}
	all := []*fragile{next(), next(), next()}
	subjects := []limits.Subject{slots("key:a", 1, 3), slots("key:b", 5, 2), slots("tenant:a", 64, 2)}
	kills := 0
	for range operations {
		i := random.IntN(len(all))
		g := all[i]
		switch n := random.IntN(200); {
		case n == 0 && kills < 8:
			kills++
			g.way.Cut()
			all[i] = next()
		case n < 4:
			g.way.Hold()
			g.paused = true
		case n < 12 && g.paused:
			g.way.Pass()
			g.paused = false
		case n < 13:
			g.RestateAll(true)
		case n < 110:
			asked := subjects[random.IntN(2):]
			if random.IntN(3) == 0 {
				asked = asked[:1]
			}
			if entry := enter(t, g.peer, asked...); entry.Permit != nil {
				g.permits = append(g.permits, entry.Permit)
			}
		default:
			g.release(random)
		}
	}
	for _, g := range all {
		g.way.Pass()
		for len(g.permits) > 0 {
			g.release(random)
		}
	}
	last := startedWith(t, e.Addr, cluster.Config{Node: "last", Lease: shortLease.Lease, Beat: shortLease.Beat}, patience)
	enginetest.Within(t, 2*patience, "all slots are free", func() bool {
		uses, err := last.limiter.Read(t.Context(), subjects)
		if err != nil {
			t.Fatal(err)
		}
		left, err := last.engine.Do(context.Background(), "KEYS", last.node.Key("")+"g*")
		if err != nil {
			return false
		}
		keys, _ := left.AsStrSlice()
		free := len(keys) == 0
		for _, use := range uses {
			free = free && use == limits.ConcurrencyUse{}
		}
		return free
	})
	for i := range subjects {
		for n := range subjects[i].Concurrency.Limit {
			if entry := enter(t, last, subjects[i]); entry.Permit == nil || entry.Permit.Waiting() {
				t.Fatalf("%s: slot %d is not free: %+v", subjects[i].Name, n, entry)
			}
		}
	}
}
