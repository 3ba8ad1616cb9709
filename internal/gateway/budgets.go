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

// Key returns the state of the budgets of a caller's own key.
func (b Budgets) Key(ctx context.Context, caller *request.Caller) ([]limits.Balance, error) {
	return b.subject(ctx, caller, policy.KeySubject(caller.Name))
}

// Tenant returns the state of the budgets of a caller's tenant.
func (b Budgets) Tenant(ctx context.Context, caller *request.Caller) ([]limits.Balance, error) {
	return b.subject(ctx, caller, policy.TenantSubject(caller.Tenant))
}

// subject returns the state of the budgets of one of the subjects that limit a caller.
func (b Budgets) subject(ctx context.Context, caller *request.Caller, name string) ([]limits.Balance, error) {
	requests := &b.gateway.requests
	key := requests.Limits.Of(caller.Key, caller.Limits)
	subjects := slices.DeleteFunc(slices.Clone(key.Subjects), func(s limits.Subject) bool { return s.Name != name })
	if len(subjects) == 0 {
		return nil, nil
	}
	return requests.Ledger.Status(ctx, b.gateway.now(), subjects)
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
