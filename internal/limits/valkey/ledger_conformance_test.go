package valkey_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/limitstest"
)

// each returns a function that opens a ledger on an engine, each test in a cluster of its own.
func each(t *testing.T, open func(t *testing.T, addr string) limits.Ledger) func(*testing.T) limits.Ledger {
	addr := enginetest.Redis(t).Addr
	return func(t *testing.T) limits.Ledger {
		flush(t, addr)
		return open(t, addr)
	}
}

func TestLedgerKeepsTheContract(t *testing.T) {
	limitstest.Run(t, each(t, func(t *testing.T, addr string) limits.Ledger {
		return join(t, addr, "a", noon(), valkey.LedgerConfig{Likely: patience})
	}))
}

func TestLedgerKeepsTheContractOnABadNetwork(t *testing.T) {
	open := each(t, func(t *testing.T, addr string) limits.Ledger {
		return join(t, addr, "a", noon(), valkey.LedgerConfig{Likely: patience})
	})
	for seed := range uint64(amount(1, 2)) {
		limitstest.Run(t, func(t *testing.T) limits.Ledger { return limitstest.NewUnreliable(open(t), seed, nil) })
	}
}

// two are two gateways that take messages in turns. A message finds what the one before did at the other:
// so that waits for its settlements.
type two struct {
	gateways [2]gateway
	turn     atomic.Int64
}

func (w *two) next(ctx context.Context) (limits.Ledger, error) {
	n := w.turn.Add(1)
	_, err := w.gateways[(n+1)%2].Status(ctx, limitstest.Noon, nil)
	return w.gateways[n%2], err
}

func (w *two) Reserve(ctx context.Context, r limits.ReserveRequest) (*limits.Refusal, error) {
	l, err := w.next(ctx)
	if err != nil {
		return nil, err
	}
	return l.Reserve(ctx, r)
}

func (w *two) Settle(ctx context.Context, call string, used limits.Amount) error {
	l, err := w.next(ctx)
	if err != nil {
		return err
	}
	return l.Settle(ctx, call, used)
}

func (w *two) Exhausted(ctx context.Context, at time.Time, subjects []limits.Subject) (*limits.Refusal, error) {
	l, err := w.next(ctx)
	if err != nil {
		return nil, err
	}
	return l.Exhausted(ctx, at, subjects)
}

func (w *two) Status(ctx context.Context, at time.Time, subjects []limits.Subject) ([]limits.Balance, error) {
	l, err := w.next(ctx)
	if err != nil {
		return nil, err
	}
	return l.Status(ctx, at, subjects)
}

func (w *two) Subjects(ctx context.Context, at time.Time) ([]string, error) {
	l, err := w.next(ctx)
	if err != nil {
		return nil, err
	}
	return l.Subjects(ctx, at)
}

func TestTwoLedgersOfOneEngineKeepTheContract(t *testing.T) {
	limitstest.Run(t, each(t, func(t *testing.T, addr string) limits.Ledger {
		now := noon()
		w := &two{}
		for i := range w.gateways {
			w.gateways[i] = join(t, addr, fmt.Sprint("gw-", i), now, valkey.LedgerConfig{Likely: patience})
			w.gateways[i].BelieveNothing()
		}
		return w
	}))
}

// crashing returns a gateway whose calls another one takes over.
func crashing(t *testing.T, addr string) limitstest.Crashing {
	now := noon()
	var crashed []limits.Crash
	dead := join(t, addr, "dead", now, valkey.LedgerConfig{Likely: patience})
	alive := join(t, addr, "alive", now, valkey.LedgerConfig{Crashed: func(c limits.Crash) { crashed = append(crashed, c) }})
	return limitstest.Crashing{Ledger: dead, Crash: func() []limits.Crash {
		crashed = nil
		bury(t, dead)
		if err := alive.Reap(t.Context(), dead.node.ID()); err != nil {
			t.Fatal(err)
		}
		return crashed
	}}
}

// bury ends the lease of a gateway, which does not know it.
func bury(t testing.TB, g gateway) {
	t.Helper()
	if _, err := g.node.Engine().Do(t.Context(), "ZREM", g.node.Key("nodes"), g.node.ID()); err != nil {
		t.Fatal(err)
	}
}

func TestLateSettlementsPutCrashesRight(t *testing.T) {
	addr := enginetest.Redis(t).Addr
	limitstest.RunCrashes(t, func(t *testing.T) limitstest.Crashing {
		flush(t, addr)
		return crashing(t, addr)
	})
}

func TestLateSettlementsPutCrashesRightOnABadNetwork(t *testing.T) {
	addr := enginetest.Redis(t).Addr
	limitstest.RunCrashes(t, func(t *testing.T) limitstest.Crashing {
		flush(t, addr)
		c := crashing(t, addr)
		c.Ledger = limitstest.NewUnreliable(c.Ledger, 7, nil)
		return c
	})
}
