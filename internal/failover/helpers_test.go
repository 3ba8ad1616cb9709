package failover_test

import (
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/failover"
)

// bench is a Health under a clock that the test moves, without jitter.
type bench struct {
	*failover.Health
	t *testing.T

	mu      sync.Mutex
	clock   time.Time
	changes []failover.Change
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, clock: time.Unix(1_700_000_000, 0)}
	b.Health = failover.NewHealth(b.now, func() float64 { return 0 }, func(c failover.Change) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changes = append(b.changes, c)
	})
	return b
}

func (b *bench) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clock
}

func (b *bench) wait(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock = b.clock.Add(d)
}

// attempt is one attempt that ends at once.
func (b *bench) attempt(id string, r failover.Result) {
	trial := b.Begin(id, false)
	trial.End(r)
}

func (b *bench) attempts(id string, n int, r failover.Result) {
	for range n {
		b.attempt(id, r)
	}
}

// status returns the record of a target.
func (b *bench) status(id string) failover.Status {
	for _, s := range b.Snapshot() {
		if s.ID == id {
			return s
		}
	}
	return failover.Status{}
}

// want checks the state of a target, and how long it still cools.
func (b *bench) want(id, state string, cools time.Duration) {
	b.t.Helper()
	s := b.status(id)
	left := time.Duration(0)
	if !s.Until.IsZero() {
		left = s.Until.Sub(b.now())
	}
	if s.State != state || left != cools {
		b.t.Fatalf("%s is %s for %v, want %s for %v", id, s.State, left, state, cools)
	}
}

// order returns the ids in the order of a call.
func (b *bench) order(groups ...[]failover.Candidate) (ids []string) {
	for _, p := range b.Order(nil, groups, "") {
		ids = append(ids, groups[p.Group][p.Index].ID)
	}
	return ids
}

func group(ids ...string) (g []failover.Candidate) {
	for _, id := range ids {
		g = append(g, failover.Candidate{ID: id})
	}
	return g
}

var (
	success = failover.Result{}
	neutral = failover.Result{Class: failover.Neutral}
	failure = failover.Result{Class: failover.Failure}
	limited = failover.Result{Class: failover.RateLimited}
	lasting = failover.Result{Class: failover.Lasting}
)

func after(r failover.Result, pause time.Duration) failover.Result {
	r.RetryAfter = pause
	return r
}
