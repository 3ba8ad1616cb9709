//go:build unix && !race

package clustertest_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

const (
	// pausedEngine is how long an engine is stopped.
	pausedEngine = 5 * time.Second
	// hardDeadline is how long a reservation may wait for the engine, with slack for a busy machine.
	hardDeadline = 2*time.Second + 700*time.Millisecond
	// softDeadline is how long a call waits that can go on without it: two messages of 100 ms.
	softDeadline = 200*time.Millisecond + 500*time.Millisecond
)

// While the engine answers nothing, hard budgets refuse and all other calls go on.
func TestAStoppedEngineHoldsUpHardBudgetsOnly(t *testing.T) {
	p := start(t, 2)
	for _, key := range []string{"hard", "soft", "gated", "rated", "plain"} {
		p.soon(key, func() error { return p.status(200, p.at(0, key), "metered/quick") })
	}
	if err := p.Engines.Redis.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	kinds := map[string]*load{}
	for _, key := range []string{"hard", "soft", "gated", "plain"} {
		workers := 2
		kinds[key] = p.load(workers, p.paced(key))
	}
	kinds["wrong"] = p.load(1, func(n int) (clustertest.Answer, error) {
		p.wait(20 * time.Millisecond)
		return clustertest.Client{Origin: p.Gateways[n%2].Origin, Key: "gk-nobody"}.Do(t.Context(), "POST", chatPath, clustertest.Chat("fake/echo", "", ""))
	})
	p.wait(pausedEngine)
	for key, l := range kinds {
		answers := l.stop()
		want, limit := "200", softDeadline
		switch key {
		case "hard":
			want, limit = "503 ledger_unavailable", hardDeadline
		case "wrong":
			want = "401 invalid_api_key"
		}
		if !answers.only(want) || answers.slowest > limit {
			t.Errorf("key %s: %v; want %s within %v", key, answers, want, limit)
		}
		t.Logf("the engine is stopped, key %s: %v", key, answers)
	}
	if err := p.Engines.Redis.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	went := time.Now()
	p.soon("hard budgets", func() error { return p.status(200, p.at(0, "hard"), "metered/quick") })
	t.Logf("stopped for %v; a hard budget admits again after %v", went.Sub(stopped).Round(time.Millisecond), time.Since(went).Round(time.Millisecond))
	for _, key := range []string{"hard", "soft"} {
		rows := p.books(key)
		if len(rows) == 0 {
			t.Errorf("no rows of %s", key)
		}
	}
}

// paced is call with a pause, so that a load of it leaves the machine to others.
func (p *proof) paced(key string) func(n int) (clustertest.Answer, error) {
	call := p.quick(key)
	return func(n int) (clustertest.Answer, error) {
		p.wait(10 * time.Millisecond)
		return call(n)
	}
}

// An engine without persistence forgets everything when it is killed. What was spent comes back from
// PostgreSQL, before any call is admitted under a hard budget.
func TestAWipedEngineForgetsNoMoney(t *testing.T) {
	p := start(t, 2)
	before := p.calls(200, 8, p.quick("crowd"))
	if !before.only("200") {
		t.Fatal(before)
	}
	spent := clustertest.Sum(p.books("crowd"))
	open, _ := p.hold(2, "held", 0, 1)
	p.Engines.Redis.Kill()
	down := p.calls(20, 4, p.quick("crowd"))
	if !down.only("503 ledger_unavailable") || down.slowest > hardDeadline {
		t.Errorf("the engine is down: %v", down)
	}
	if err := p.status(200, p.at(0, "plain"), "metered/quick"); err != nil {
		t.Errorf("a call without a shared limit: %v", err)
	}
	p.Engines.Redis.MustStart(t)
	began := time.Now()
	p.soon("hard budgets", func() error { return p.status(200, p.at(0, "crowd"), "metered/quick") })
	t.Logf("the engine is back, and wiped: a hard budget admits after %v", time.Since(began).Round(10*time.Millisecond))
	b, err := p.budget(1, "crowd")
	if err != nil || b.Spent < spent {
		t.Errorf("%d nano-USD are spent, it were %d before: %v", b.Spent, spent, err)
	}
	if h, err := p.budget(1, "held"); err != nil || h.Reserved == 0 {
		t.Errorf("calls under way have nothing reserved: %+v, %v", h, err)
	}
	p.crowd(1000, 16)
	p.Provider.Release()
	leave(open)
	p.books("held")
	p.soon("all places", func() error {
		all, _ := p.hold(4, "held", 0, 1)
		leave(all)
		if len(all) != 4 {
			return fmt.Errorf("%d of 4 are free", len(all))
		}
		return nil
	})
}
