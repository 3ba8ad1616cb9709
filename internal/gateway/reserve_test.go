package gateway_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// hanging is a ledger on a disk that hangs: it has the reservation, and cannot say so.
type hanging struct{ limits.Ledger }

func (h hanging) Reserve(ctx context.Context, r limits.ReserveRequest) (*limits.Refusal, error) {
	if refusal, err := h.Ledger.Reserve(ctx, r); refusal != nil || err != nil {
		return refusal, err
	}
	<-ctx.Done()
	return nil, fmt.Errorf("%w: %w", limits.ErrUnavailable, ctx.Err())
}

// A call holds its places while it waits for the disk, which therefore has an end.
func TestADiskThatHangsRefusesTheCallSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, gateway.Config{Catalog: priced(t), Limits: gateway.Limits{
			Keys: map[string]*gateway.KeyLimits{"dev": underBudget("1usd/day", t)},
		}}).start(t, t.Context())
		gateway.ReplaceLedger(r.Gateway, func(l limits.Ledger) limits.Ledger { return hanging{l} })
		call, begun := r.begin(t), time.Now()
		defer call.Finish()
		wantFault(t, reserve(t, call, hello), apierror.LedgerUnavailable, "cannot be recorded")
		if waited := time.Since(begun); waited != 2*time.Second {
			t.Errorf("after %v", waited)
		}
		if b, err := r.Balances(t.Context(), "dev"); err != nil || b[0].Reserved != 0 {
			t.Errorf("what nobody will use is still reserved: %+v, %v", b, err)
		}
	})
}

// reserved is what a budget holds for a call, in nano-USD: 1,000 a token.
func reserved(t *testing.T, budget, body string) int64 {
	t.Helper()
	r := newRig(t, gateway.Config{Catalog: priced(t), Limits: gateway.Limits{
		Keys: map[string]*gateway.KeyLimits{"dev": underBudget(budget, t)},
	}}).start(t, t.Context())
	call := r.begin(t)
	defer call.Finish()
	if err := reserve(t, call, body); err != nil {
		t.Fatal(err)
	}
	b, err := r.Balances(t.Context(), "dev")
	if err != nil {
		t.Fatal(err)
	}
	return b[0].Reserved
}

func TestThoughtIsReservedForBesideTheOutput(t *testing.T) {
	body := hello[:len(hello)-1] + `,"n":2,"enable_thinking":true,"thinking_budget":5000}`
	for budget, least := range map[string]int64{"1usd/day": 10_200_000, "1usd/day soft": 2_048_000} {
		if n := reserved(t, budget, body); n < least || n > least+200_000 {
			t.Errorf("%s: %d nano-USD", budget, n)
		}
	}
}

// What a provider tells the model of a tool that it knows is prompt, and billed.
func TestAToolThatTheProviderDescribesIsReservedFor(t *testing.T) {
	with := func(tool string) string { return hello[:len(hello)-1] + `,"tools":[` + tool + `]}` }
	function, patch := reserved(t, "1usd/day", with(`{"type":"function"}`)), reserved(t, "1usd/day", with(`{"type":"apply_patch"}`))
	if more := patch - function; more < 4_000_000 || more > 6_000_000 { // nano-USD, 1,000 a token
		t.Errorf("%d nano-USD more than for a function", more)
	}
}
