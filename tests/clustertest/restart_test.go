//go:build unix && !race

package clustertest_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// through is a call by way of the balancer.
func (p *proof) through(key string) func(int) (clustertest.Answer, error) {
	body := clustertest.Chat("metered/quick", key, `,"max_tokens":100`)
	return func(int) (clustertest.Answer, error) {
		p.wait(5 * time.Millisecond)
		return p.balanced(key).Do(p.t.Context(), "POST", chatPath, body)
	}
}

// Under load one gateway loads its configuration again, and then all are restarted, one after the
// other: no call is lost.
func TestReloadsAndARollingRestartLoseNoCall(t *testing.T) {
	p := start(t, 2)
	l := p.load(6, p.through("hard"))
	for range 3 {
		if err := p.Gateways[0].Reload(); err != nil {
			t.Error(err)
		}
		p.wait(300 * time.Millisecond)
	}
	for _, g := range p.Gateways {
		g.Stop()
		if err := g.Start(); err != nil {
			t.Fatal(err)
		}
		p.wait(500 * time.Millisecond) // the balancer sees it
	}
	answers := l.stop()
	if !answers.only("200") {
		t.Errorf("behind the balancer: %v", answers)
	}
	p.rowsOf("hard", answers.of("200"))
	rows := p.books("hard")
	t.Logf("three reloads and two restarts: %v, %d rows", answers, len(rows))
}
