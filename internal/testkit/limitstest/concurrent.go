package limitstest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// concurrentCalls sends calls worth ten times the budget of two tenants' common gateway at once.
func concurrentCalls(t *testing.T, c *client) {
	const calls, worth, limit = 200, 5, 100
	everybody := subject("gateway", money(limit, limits.Total))
	tenants := []limits.Subject{subject("tenant:a", money(limit, limits.Total)), subject("tenant:b", money(limit, limits.Total))}
	var wg sync.WaitGroup
	var taken, spent, over atomic.Int64
	look := func() {
		balances, err := c.Status(context.Background(), Noon, []limits.Subject{everybody})
		if err == nil && balances[0].Spent+balances[0].Reserved > limit {
			over.Add(1)
		}
	}
	for i := range calls {
		wg.Go(func() {
			r := reservation(fmt.Sprint("call-", i), worth, 0, tenants[i%2], everybody)
			r.Durable = i%3 == 0
			if i%4 < 2 { // subjects in different orders must not deadlock
				r.Subjects = []limits.Subject{everybody, tenants[i%2]}
			}
			refusal, err := c.ask(r)
			look()
			if err != nil {
				t.Errorf("%s: %v", r.Call, err)
			}
			if refusal != nil || err != nil {
				return
			}
			taken.Add(1)
			used := int64(i % (worth + 1))
			if err := try(func() error { return c.Settle(context.Background(), r.Call, limits.Amount{Nano: used}) }); err != nil {
				t.Errorf("settling %s: %v", r.Call, err)
			}
			spent.Add(used)
			look()
		})
	}
	wg.Wait()
	if over.Load() > 0 || taken.Load() < limit/worth {
		t.Errorf("%d calls taken, the limit was exceeded %d times", taken.Load(), over.Load())
	}
	c.status(Noon, []limits.Subject{everybody}, spent.Load(), 0)
	balances, err := c.Ledger.Status(context.Background(), Noon, tenants)
	for err != nil {
		balances, err = c.Ledger.Status(context.Background(), Noon, tenants)
	}
	if sum := balances[0].Spent + balances[1].Spent; sum != spent.Load() || balances[0].Reserved+balances[1].Reserved != 0 {
		t.Errorf("the tenants have %+v, together they spent %d", balances, spent.Load())
	}
}

// sameCall sends the same message many times at once.
func sameCall(t *testing.T, c *client) {
	s := subject("key:a", money(100, limits.Total))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if refusal, err := c.ask(reservation("1", 40, 0, s)); refusal != nil || err != nil {
				t.Errorf("reserving: %+v, %v", refusal, err)
			}
		})
	}
	wg.Wait()
	c.status(Noon, []limits.Subject{s}, 0, 40)
	for i := range 20 {
		wg.Go(func() {
			if _, err := c.ask(reservation("1", 40, 0, s)); err != nil && !errors.Is(err, limits.ErrEnded) {
				t.Error(err)
			}
		})
		wg.Go(func() {
			err := try(func() error { return c.Settle(context.Background(), "1", limits.Amount{Nano: 30}) })
			if err != nil {
				t.Errorf("settling for the %d. time: %v", i, err)
			}
		})
	}
	wg.Wait()
	c.status(Noon, []limits.Subject{s}, 30, 0)
}
