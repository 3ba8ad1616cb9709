package failover_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/failover"
)

var classes = []failover.Class{
	failover.Success, failover.Neutral, failover.Failure, failover.Failure, failover.RateLimited, failover.Lasting,
}

func randomResult(r *rand.Rand, classes []failover.Class) failover.Result {
	result := failover.Result{Class: classes[r.IntN(len(classes))]}
	if r.IntN(3) == 0 {
		result.RetryAfter = time.Duration(r.IntN(200)) * time.Second
	}
	return result
}

// Calls run at once, in every order: a target has one probe at a time, an order has each candidate
// once, and what begins is freed.
func TestManyCallsAtOnce(t *testing.T) {
	b := newBench(t)
	var groups [][]failover.Candidate
	probes := map[string]*atomic.Int32{}
	for g := range 3 {
		var candidates []failover.Candidate
		for i := range 3 {
			id := fmt.Sprintf("p%d/m%d", g, i)
			candidates = append(candidates, failover.Candidate{ID: id, Weight: float64(i)})
			probes[id] = new(atomic.Int32)
		}
		groups = append(groups, candidates)
	}
	var calls sync.WaitGroup
	for n := range 8 {
		calls.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(n)))
			for i := range 2000 {
				b.wait(time.Duration(r.IntN(1000)) * time.Millisecond)
				picks := b.Order(nil, groups, fmt.Sprint(r.IntN(5)))
				seen := map[failover.Pick]bool{}
				for _, p := range picks {
					seen[p] = true
				}
				if len(picks) != 9 || len(seen) != 9 {
					t.Errorf("order %v", picks)
				}
				var hedged []func()
				for _, p := range picks[:1+r.IntN(3)] {
					id := groups[p.Group][p.Index].ID
					trial := b.Begin(id, r.IntN(10) == 0)
					probe := trial.Probe()
					if probe && probes[id].Add(1) > 1 {
						t.Errorf("two probes of %s", id)
					}
					result, late := randomResult(r, classes), r.IntN(4) == 0
					end := func() {
						if probe {
							probes[id].Add(-1)
						}
						if r.IntN(3) == 0 {
							trial.FirstContent()
						}
						trial.End(result)
						trial.End(failure)
					}
					if late {
						hedged = append(hedged, end)
					} else {
						end()
					}
				}
				for _, end := range hedged {
					end()
				}
				if i%100 == 0 {
					b.Snapshot()
				}
			}
		})
	}
	calls.Wait()
	b.wait(2 * time.Hour)
	for range 9 { // each that was cooling is due: nobody holds its probe
		p := b.Order(nil, groups, "")[0]
		id := groups[p.Group][p.Index].ID
		state := b.status(id).State
		trial := b.Begin(id, false)
		if trial.Probe() != (state == probing) {
			t.Errorf("%s is %s, its attempt a probe: %v", id, state, trial.Probe())
		}
		trial.End(failover.Result{})
	}
	for id := range probes {
		b.attempt(id, success)
	}
	b.wait(2 * time.Hour)
	b.attempt("new", success)
	if kept := b.Snapshot(); len(kept) != 1 {
		t.Errorf("trials that were not freed: %+v", kept)
	}
}

func TestNothingShortensACoolDown(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for round := range 200 {
		b := newBench(t)
		b.Health = failover.NewHealth(b.now, r.Float64, func(failover.Change) {})
		var until time.Time
		var open []failover.Trial
		for range 50 {
			b.wait(time.Duration(r.IntN(8)) * time.Second)
			open = append(open, b.Begin("a", r.IntN(8) == 0))
			if i := r.IntN(len(open)); r.IntN(2) == 0 {
				open[i].End(randomResult(r, classes[1:]))
			}
			s := b.status("a")
			if b.now().Before(until) && s.Until.Before(until) {
				t.Fatalf("round %d: cooled until %v, before until %v", round, s.Until, until)
			}
			until = s.Until
		}
	}
}
