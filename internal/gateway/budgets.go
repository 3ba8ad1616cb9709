package gateway

import (
	"context"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// Budgets is the part of a gateway that says what budgets have spent.
type Budgets struct{ gateway *Gateway }

// BudgetsOf returns the part of g that says what budgets have spent.
func BudgetsOf(g *Gateway) Budgets { return Budgets{g} }

// Caller returns the state of the budgets that each call of a caller needs: those of its key, its tenant
// and the gateway.
func (b Budgets) Caller(ctx context.Context, caller *request.Caller) ([]limits.Balance, error) {
	requests := &b.gateway.requests
	subjects := requests.Limits.Of(caller.Key, caller.Limits).Subjects
	if len(subjects) == 0 {
		return nil, nil
	}
	return requests.Ledger.Status(ctx, b.gateway.now(), subjects)
}

// Tenant returns the state of the budgets of a caller's tenant.
func (b Budgets) Tenant(ctx context.Context, caller *request.Caller) ([]limits.Balance, error) {
	all, err := b.Caller(ctx, caller)
	return slices.DeleteFunc(all, func(x limits.Balance) bool { return x.Subject != policy.TenantSubject(caller.Tenant) }), err
}

// All returns the state of every budget of the configuration, by name of its subject.
func (b Budgets) All(ctx context.Context) ([]limits.Balance, error) {
	requests := &b.gateway.requests
	var all []limits.Balance
	for part := range slices.Chunk(requests.Limits.Subjects(), limits.MaxSubjects) {
		balances, err := requests.Ledger.Status(ctx, b.gateway.now(), part)
		if err != nil {
			return nil, err
		}
		all = append(all, balances...)
	}
	return all, nil
}
