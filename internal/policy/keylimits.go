package policy

import (
	"fmt"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// KeyLimits bound one key.
type KeyLimits struct {
	// Tenant owns the key. Limits are shown to no tenant without it.
	Tenant string
	// Subjects are those of the key, its tenant and the gateway that have any limit, in this order.
	Subjects []limits.Subject
	Caps     Caps
	// Holder is who has the key by a role; nil: the key has a secret of its own.
	Holder *Holder
	// Unpriced permits calls whose price cannot be known beforehand, under a hard budget too.
	Unpriced bool

	hardMoney, hardTokens, soft, counted, rated bool // what the subjects have
}

// Holder is a person or a program whom an identity provider has named.
type Holder struct {
	Role string
	Name string // for display
	// Resource is the path at which alone the secret is good: "/mcp/github". "": everywhere.
	Resource string
	// Client reports whether the secret was given to a client with an ID: anybody can register one.
	Client bool
}

// Budgeted reports whether what the key's calls spend is counted.
func (k *KeyLimits) Budgeted() bool { return k.BudgetLimited() || k.counted }

// BudgetLimited reports whether a budget can refuse the key's calls.
func (k *KeyLimits) BudgetLimited() bool { return k.hardMoney || k.hardTokens || k.soft }

// Hard reports whether a hard budget can refuse the key's calls.
func (k *KeyLimits) Hard() bool { return k.hardMoney || k.hardTokens }

// HardMoney reports whether a hard budget of money can refuse the key's calls.
func (k *KeyLimits) HardMoney() bool { return k.hardMoney }

// Rated reports whether the key's tokens are limited by a rate.
func (k *KeyLimits) Rated() bool { return k.rated }

// prepare notes what the subjects have. It refuses limits that contradict each other.
func (k *KeyLimits) prepare() error {
	if slices.ContainsFunc(k.Subjects, isUnlimited) {
		k.Subjects = slices.DeleteFunc(slices.Clone(k.Subjects), isUnlimited)
	}
	for _, s := range k.Subjects {
		if err := s.Check(); err != nil {
			return fmt.Errorf("limits of %q: %w", s.Name, err)
		}
		k.rated = k.rated || slices.ContainsFunc(s.Rates, func(r limits.Rate) bool { return r.Unit == limits.Tokens })
		for _, b := range s.Budgets {
			switch {
			case b.Limit == limits.NoLimit:
				k.counted = true
			case b.Soft:
				k.soft = true
			case b.Unit == limits.Money:
				k.hardMoney = true
			default:
				k.hardTokens = true
			}
		}
	}
	return k.Caps.check()
}

// RuntimeKey returns the limits of a key that the configuration does not have: its own, then those
// of its tenant and of the gateway. The error is of own limits that contradict each other.
func (l *Limits) RuntimeKey(tenant string, own limits.Subject, caps Caps, unpriced bool) (*KeyLimits, error) {
	shared := &unlimited
	if of, ok := l.Tenants[tenant]; ok {
		shared = of
	} else if l.OtherTenants != nil {
		shared = l.OtherTenants
	}
	k := &KeyLimits{Tenant: tenant, Subjects: append([]limits.Subject{own}, shared.Subjects...), Caps: caps, Unpriced: unpriced}
	return k, k.prepare()
}
