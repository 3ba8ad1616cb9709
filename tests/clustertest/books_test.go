//go:build unix && !race

package clustertest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// budget is what gateway i says about the one budget of a key.
func (p *proof) budget(i int, key string) (b clustertest.Budget, err error) {
	all, err := p.at(i, key).Budgets(p.t.Context())
	if err != nil {
		return b, err
	}
	if len(all) != 1 {
		return b, fmt.Errorf("the key %s has %d budgets", key, len(all))
	}
	return all[0], nil
}

// books waits until nothing of the key is reserved and its budget is, at each gateway, exactly what
// its rows cost. It returns the rows.
func (p *proof) books(key string) (rows []clustertest.Row) {
	p.t.Helper()
	p.soon("the books of "+key, func() error {
		for i := range p.Gateways {
			b, err := p.budget(i, key)
			if err != nil {
				return err
			}
			if rows, err = p.at(i, "reader").Rows(p.t.Context(), "key="+key); err != nil {
				return err
			}
			if sum := clustertest.Sum(rows); sum != b.Spent || b.Reserved != 0 {
				return fmt.Errorf("%s says that %d nano-USD are spent and %d reserved; %d rows cost %d: %+d",
					p.Gateways[i].Name, b.Spent, b.Reserved, len(rows), sum, b.Spent-sum)
			}
		}
		return nil
	})
	seen := make(map[string]bool, len(rows))
	for _, r := range rows {
		if seen[r.RequestID] {
			p.t.Errorf("two rows have the request id %s", r.RequestID)
		}
		seen[r.RequestID] = true
	}
	return rows
}

// answered is how many rows have the status 200.
func answered(rows []clustertest.Row) (n int) {
	for _, r := range rows {
		if r.Status == 200 {
			n++
		}
	}
	return n
}

// watch looks at the budget of a key at all gateways until done is closed, and fails if more is
// spent or reserved than its limit.
func (p *proof) watch(key string, done chan struct{}) (looks int) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return looks
		case <-tick.C:
		}
		for i := range p.Gateways {
			b, err := p.budget(i, key)
			if err != nil {
				continue // while an engine is away
			}
			if looks++; b.Spent+b.Reserved > b.Limit {
				p.t.Errorf("%d nano-USD are spent and %d reserved of %d", b.Spent, b.Reserved, b.Limit)
			}
		}
	}
}

func TestACrowdSpendsOneBudgetExactly(t *testing.T) {
	p := start(t, 2)
	p.crowd(1500, 24)
}

// crowd makes calls until the budget of the key crowd is used up.
func (p *proof) crowd(calls, workers int) {
	p.t.Helper()
	before := answered(p.books("crowd"))
	done, looks := make(chan struct{}), make(chan int)
	go func() { looks <- p.watch("crowd", done) }()
	began := time.Now()
	answers := p.calls(calls, workers, p.quick("crowd"))
	took := time.Since(began)
	close(done)
	seen := <-looks
	rows := p.books("crowd")
	b, err := p.budget(0, "crowd")
	if err != nil {
		p.t.Fatal(err)
	}
	if !answers.only("200", "402 budget_exceeded") || answers.of("402 budget_exceeded") == 0 || answered(rows) != before+answers.of("200") {
		p.t.Errorf("%d rows are of answered calls, %d before; %v", answered(rows), before, answers)
	}
	if b.Spent > b.Limit || b.Spent < b.Limit*9/10 {
		p.t.Errorf("%d nano-USD are spent of %d", b.Spent, b.Limit)
	}
	p.t.Logf("%d calls in %v (%.0f/s) at %d gateways: %v; %d nano-USD of %d spent, equal to %d rows; %d looks between",
		calls, took.Round(time.Millisecond), float64(calls)/took.Seconds(), len(p.Gateways), answers, b.Spent, b.Limit, len(rows), seen)
}
