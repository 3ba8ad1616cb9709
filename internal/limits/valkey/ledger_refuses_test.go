package valkey_test

import (
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// With an engine that may forget what was spent, only calls under soft budgets go on.
func TestNothingIsReservedForAHardBudgetAtAnEngineThatForgets(t *testing.T) {
	g, key := join(t, enginetest.Redis(t).Addr, "a", nil, valkey.LedgerConfig{}), keyA(t)
	forgets := errors.New("it has maxmemory-policy allkeys-lru")
	ask := func(call string, durable bool) error {
		_, err := g.Reserve(t.Context(), limits.ReserveRequest{
			Call: call, At: g.node.Now(), Most: limits.Amount{Nano: 5}, Likely: limits.Amount{Nano: 5}, Subjects: []limits.Subject{key}, Durable: durable,
		})
		return err
	}
	g.Distrust(forgets)
	if err := ask("hard", true); !errors.Is(err, forgets) || !errors.Is(err, limits.ErrUnavailable) {
		t.Errorf("hard: %v", err)
	}
	if err := ask("soft", false); err != nil {
		t.Errorf("soft: %v", err)
	}
	g.Distrust(nil)
	if err := ask("hard again", true); err != nil {
		t.Errorf("hard, when it is put right: %v", err)
	}
	shows(t, g, key, 0, 10, 0, 10)
}

// Messages with little time share the connection: they shut it for all when the engine stands still
// for a moment. A stall of the machine is enough.
func TestAPauseOfTheEngineRefusesNothingUnderAHardBudget(t *testing.T) {
	redis := enginetest.Redis(t)
	g, key := join(t, redis.Addr, "a", nil, valkey.LedgerConfig{}), keyA(t)
	ask := func(call string, durable bool) {
		_, err := g.Reserve(t.Context(), limits.ReserveRequest{
			Call: call, At: g.node.Now(), Most: limits.Amount{Nano: 1}, Likely: limits.Amount{Nano: 1}, Subjects: []limits.Subject{key},
			Durable: durable, Timeout: 10 * time.Second,
		})
		if err != nil {
			t.Errorf("%s: %v", call, err)
		}
	}
	ask("before", true)
	if err := redis.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var soft sync.WaitGroup
	for _, call := range []string{"soft 1", "soft 2", "soft 3"} {
		soft.Go(func() { ask(call, false) })
	}
	soft.Wait()
	enginetest.Within(t, 5*time.Second, "the engine counts as away", func() bool { return !g.node.Engine().Stats().Up })
	if err := redis.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	ask("after", true)
}
