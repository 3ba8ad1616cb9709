//go:build unix && !race

package clustertest_test

import (
	"encoding/json"
	"flag"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// killsFlag is how often a gateway is killed.
var killsFlag = flag.Int("kills", 200, "how often a gateway is killed in TestLongGatewaysAreKilledAtRandom")

// The costs of the metered models, as the catalog has them, in 1e-6 nano-USD a token.
const promptRate, completionRate = 1_250_000_000, 10_000_000_007

// reserve is more than one call reserves, in nano-USD: 100 tokens of output and the prompt.
const reserve = 2_000_000

// costOf is what a client can say that its call has cost, by the usage that it was told.
func costOf(a clustertest.Answer) int64 {
	var body struct {
		Usage struct {
			Prompt     int64 `json:"prompt_tokens"`
			Completion int64 `json:"completion_tokens"`
		}
	}
	if a.Status != 200 || json.Unmarshal(a.Body, &body) != nil {
		return 0
	}
	return (body.Usage.Prompt*promptRate + body.Usage.Completion*completionRate + 999_999) / 1_000_000
}

// Gateways are killed at any point of a call, again and again. No money of an answered call is
// lost, and more is charged only for calls that were cut off, at most what they had reserved.
func TestLongGatewaysAreKilledAtRandom(t *testing.T) {
	p := start(t, 3)
	var told, cut atomic.Int64
	counted := func(key, model string) func(int) (clustertest.Answer, error) {
		call := p.call(key, model)
		return func(n int) (clustertest.Answer, error) {
			a, err := call(n)
			if err != nil {
				cut.Add(1)
				p.wait(20 * time.Millisecond) // the gateway is being started
			}
			told.Add(costOf(a))
			return a, err
		}
	}
	loads := []*load{p.load(4, counted("hard", "metered/quick")), p.load(8, counted("hard", "metered/slow"))}
	began := time.Now()
	var starting time.Duration
	for range *killsFlag {
		g := p.Gateways[p.random.IntN(len(p.Gateways))]
		p.wait(time.Duration(p.random.IntN(400)) * time.Millisecond)
		g.Kill()
		ended := time.Now()
		if err := g.Start(); err != nil {
			t.Fatal(err)
		}
		starting += time.Since(ended)
	}
	took := time.Since(began)
	for _, l := range loads {
		answers := l.stop()
		if n := answers.of("200"); n == 0 {
			t.Error(answers)
		}
		t.Logf("%d answered", answers.of("200"))
	}
	p.within(leaseEnds+waitLimit, "the end of what dead gateways held", func() error {
		b, err := p.budget(0, "hard")
		if err == nil && b.Reserved != 0 {
			err = errReserved
		}
		return err
	})
	b, err := p.budget(0, "hard")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := p.at(0, "reader").Rows(t.Context(), "key=hard")
	if err != nil {
		t.Fatal(err)
	}
	crashed, charged := 0, int64(0)
	for _, r := range rows {
		if r.Source == "crashed" {
			crashed++
			charged += clustertest.Sum([]clustertest.Row{r})
		}
	}
	sum := clustertest.Sum(rows)
	t.Logf("%d kills in %v, a start took %v: %d nano-USD spent, clients were told of %d, %d rows cost %d (%d crashed: %d); %d calls were cut off",
		*killsFlag, took.Round(time.Second), (starting / time.Duration(*killsFlag)).Round(time.Millisecond), b.Spent, told.Load(), len(rows), sum, crashed, charged, cut.Load())
	if b.Spent < told.Load() {
		t.Errorf("%d nano-USD of answered calls are not charged", told.Load()-b.Spent)
	}
	// A killed gateway loses the rows of its last 100 ms, but not the money of these calls.
	if sum > b.Spent {
		t.Errorf("rows cost %d nano-USD more than was charged", sum-b.Spent)
	}
	if most := told.Load() + (cut.Load()+int64(len(loads)))*reserve; b.Spent > most {
		t.Errorf("%d nano-USD are charged, at most %d can be", b.Spent, most)
	}
	for i := range p.Gateways {
		other, err := p.budget(i, "hard")
		if err != nil || other != b {
			t.Errorf("%s says %+v, %s %+v: %v", p.Gateways[i].Name, other, p.Gateways[0].Name, b, err)
		}
	}
}
