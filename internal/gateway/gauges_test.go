package gateway

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
)

// The database is being opened or closed, which may take as long as the disk likes.
func TestAScrapeDoesNotWaitForTheDatabase(t *testing.T) {
	s := NewState(t.TempDir(), time.Now)
	registry := prometheus.NewRegistry()
	if err := s.Metrics.Register(registry); err != nil {
		t.Fatal(err)
	}
	s.stores.mu.Lock()
	defer s.stores.mu.Unlock()
	if _, err := registry.Gather(); err != nil {
		t.Error(err)
	}
}

// balances is a ledger that answers after a while.
type balances struct {
	limits.Ledger
	wait time.Duration
}

func (b balances) Status(ctx context.Context, _ time.Time, subjects []limits.Subject) (all []limits.Balance, err error) {
	select {
	case <-time.After(b.wait):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for _, s := range subjects {
		var spent int64
		if _, err := fmt.Sscanf(s.Name, "key:%d", &spent); err != nil {
			return nil, err
		}
		all = append(all, limits.Balance{Subject: s.Name, Budget: s.Budgets[0], Spent: spent})
	}
	return all, nil
}

// stateOf is a State whose configuration has that many budgets. Of budget n, n thousandths are spent.
func stateOf(t *testing.T, budgets int, wait time.Duration) *State {
	t.Helper()
	s := NewState(t.TempDir(), time.Now)
	g := &Gateway{now: time.Now}
	g.scrape.budgeted = func() (all []limits.Subject) {
		for i := range budgets {
			all = append(all, limits.Subject{
				Name: fmt.Sprintf("key:%d", i), Budgets: []limits.Budget{{Unit: limits.Tokens, Limit: 1000, Period: limits.Daily}},
			})
		}
		return all
	}
	g.requests.Ledger = balances{wait: wait}
	gen := &generation{gateway: g, ready: make(chan struct{})}
	s.generations.start(gen)
	if found := s.budgetsSpent(); found != nil {
		t.Errorf("%d budgets before the configuration has started", len(found))
	}
	close(gen.ready)
	return s
}

func TestAScrapeShowsTheFullestBudgets(t *testing.T) {
	found := stateOf(t, 1200, 0).budgetsSpent()
	if len(found) != metrics.MostBudgets {
		t.Fatalf("%d budgets", len(found))
	}
	for i, b := range found {
		if n := 1199 - i; b != (metrics.BudgetSpent{Scope: fmt.Sprintf("key:%d", n), Budget: "1000 tokens/day", Ratio: float64(n) / 1000}) {
			t.Errorf("budget %d is %+v", i, b)
		}
	}
}

func TestAScrapeDoesNotWaitForALedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stateOf(t, 3, time.Hour)
		began := time.Now()
		if found := s.budgetsSpent(); len(found) > 0 || time.Since(began) > scrapeTimeout {
			t.Errorf("%d budgets after %s", len(found), time.Since(began))
		}
	})
}

func TestQueuesAreCountedByWhoseLimitWasReached(t *testing.T) {
	s := NewState(t.TempDir(), time.Now)
	for _, name := range []string{"key:a", "key:b", "model:acme/*", "gateway"} {
		subject := []limits.Subject{{Name: name, Concurrency: limits.Concurrency{Limit: 1, Queue: 9, Wait: time.Minute}}}
		for range 3 {
			permit, busy := s.Concurrency.Acquire(subject, nil)
			if busy != nil {
				t.Fatal(busy)
			}
			defer permit.Release()
			if permit.Waiting() != (permit.Queue() == name) {
				t.Errorf("a permit of %s waits in the queue of %q", name, permit.Queue())
			}
		}
	}
	var got []string
	for queue, n := range s.queues() {
		got = append(got, fmt.Sprint(queue, " ", n))
	}
	slices.Sort(got)
	if want := []string{"gateway 2", "key 4", "model 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
