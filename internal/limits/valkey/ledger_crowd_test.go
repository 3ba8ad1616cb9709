package valkey_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// Four gateways make calls of random cost against one budget, which is enough for two thirds of them.
// Settled and reserved never exceed it, and in the end engine, book and calls agree to the nano-USD.
func TestACrowdStaysWithinOneBudget(t *testing.T) {
	calls := amount(3_000, 10_000)
	const most = 2_000_003
	limit := int64(calls) * most / 3
	total := limits.Budget{Unit: limits.Money, Period: limits.Total, Limit: limit}
	everybody := limits.Subject{Name: "gateway", Budgets: []limits.Budget{total}}
	addr := enginetest.Redis(t).Addr
	db, writers := openBook(t, "gw-0", "gw-1", "gw-2", "gw-3")
	var gateways []gateway
	for i := range 4 {
		name := fmt.Sprint("gw-", i)
		gateways = append(gateways, join(t, addr, name, nil, valkey.LedgerConfig{Writer: writers[name], DB: db}))
	}
	watcher := join(t, addr, "watcher", nil, valkey.LedgerConfig{})
	var spent, taken, refused, next atomic.Int64
	var working, watching sync.WaitGroup
	done := make(chan struct{})
	watching.Go(func() {
		for looks := 0; ; looks++ {
			balances, err := watcher.Status(t.Context(), watcher.node.Now(), []limits.Subject{everybody})
			if err != nil || balances[0].Spent+balances[0].Reserved > limit {
				t.Errorf("%+v of %d, %v", balances, limit, err)
				return
			}
			select {
			case <-done:
				t.Logf("%d looks", looks)
				return
			default:
			}
		}
	})
	for i := range 64 {
		working.Go(func() {
			g, random := gateways[i%4], rand.New(rand.NewPCG(uint64(i), 0))
			for n := next.Add(1); n <= int64(calls); n = next.Add(1) {
				r := limits.ReserveRequest{
					Call: fmt.Sprint("call-", n), At: g.node.Now(), Most: limits.Amount{Nano: random.Int64N(2 * most)}, Durable: true,
					Subjects: []limits.Subject{everybody, {Name: fmt.Sprint("key:", n%50), Budgets: []limits.Budget{total}}},
				}
				hold, refusal, err := limits.Reserve(t.Context(), g, r)
				if err != nil {
					t.Error(err)
					return
				}
				if refusal != nil {
					refused.Add(1)
					continue
				}
				used := random.Int64N(r.Most.Nano + 1)
				if err := hold.Settle(t.Context(), limits.Amount{Nano: used}); err != nil {
					t.Error(err)
				}
				taken.Add(1)
				spent.Add(used)
			}
		})
	}
	working.Wait()
	for i := range gateways {
		if _, err := gateways[i].Status(t.Context(), gateways[i].node.Now(), nil); err != nil { // its settlements are sent
			t.Error(err)
		}
	}
	close(done)
	watching.Wait()
	shows(t, gateways[0], everybody, spent.Load(), 0)
	for _, w := range writers {
		if err := w.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := spentInBook(t, db, "gateway", "usd/total"); got != spent.Load() {
		t.Errorf("the book has %d, the calls %d", got, spent.Load())
	}
	t.Logf("%d calls taken, %d refused, %d of %d nano-USD", taken.Load(), refused.Load(), spent.Load(), limit)
	if taken.Load() < int64(calls)/2 || refused.Load() == 0 {
		t.Errorf("%d taken and %d refused", taken.Load(), refused.Load())
	}
}
