package report

import (
	"context"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// Balance is the state of one budget.
type Balance = limits.Balance

// Budgets returns the state of the budgets that each call of a key needs: those of the key, its
// tenant and the gateway. Own are the limits of a key that was made at run time; nil: the
// configuration's.
func Budgets(ctx context.Context, deps *modelcall.Deps, key *keys.Key, own *policy.KeyLimits) ([]Balance, error) {
	subjects := deps.Limits.Of(key, own).Subjects
	if len(subjects) == 0 {
		return nil, nil
	}
	return deps.Ledger.Status(ctx, deps.Now(), subjects)
}

// TenantBudgets returns those of Budgets that are of the key's tenant.
func TenantBudgets(ctx context.Context, deps *modelcall.Deps, key *keys.Key, own *policy.KeyLimits) ([]Balance, error) {
	all, err := Budgets(ctx, deps, key, own)
	return slices.DeleteFunc(all, func(x limits.Balance) bool { return x.Subject != policy.TenantSubject(key.Tenant) }), err
}

// AllBudgets returns the state of every budget of the configuration, by name of its subject.
func AllBudgets(ctx context.Context, deps *modelcall.Deps) ([]Balance, error) {
	var all []Balance
	for part := range slices.Chunk(deps.Limits.Subjects(), limits.MaxSubjects) {
		balances, err := deps.Ledger.Status(ctx, deps.Now(), part)
		if err != nil {
			return nil, err
		}
		all = append(all, balances...)
	}
	return all, nil
}
