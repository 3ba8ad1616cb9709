package gateway_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// invalid is a ledger that takes no reservation for one that can be.
type invalid struct{ limits.Ledger }

func (invalid) Reserve(context.Context, limits.ReserveRequest) (*limits.Refusal, error) {
	return nil, fmt.Errorf("%w: a negative amount", limits.ErrInvalid)
}

// A reservation that makes no sense is a fault of the gateway: whatever the
// policy for a ledger that fails, nobody may call for nothing.
func TestACallWithoutAValidReservationDoesNotGoOn(t *testing.T) {
	for _, policy := range []gateway.FailurePolicy{gateway.FailByBudget, gateway.FailOpen, gateway.FailClosed} {
		r := newRig(t, gateway.Config{Catalog: priced(t), Limits: gateway.Limits{
			Keys: map[string]*gateway.KeyLimits{"dev": underBudget("1usd/day soft", t)}, OnStoreFailure: policy,
		}}).start(t, t.Context())
		gateway.ReplaceLedger(r.Gateway, func(l limits.Ledger) limits.Ledger { return invalid{l} })
		call := r.begin(t)
		err := reserve(t, call, hello)
		if f := apierror.From(err); err == nil || f.Code != apierror.Internal {
			t.Errorf("policy %v: %v", policy, err)
		}
		call.Finish()
	}
}
