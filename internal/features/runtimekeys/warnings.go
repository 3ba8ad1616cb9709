package runtimekeys

import (
	"fmt"
	"math"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

// KeyWarnings says what is wrong with a key that works as its manager asked: a limit that lets no
// call through. Each is a sentence without a full stop.
func KeyWarnings(m *Keys, key *runtimekeys.Key) (all []string) {
	grant := key.Grant(m.block)
	if grant.Limits == nil || !grant.Limits.Hard() {
		return nil
	}
	models := m.core.Models.Known(grant.Key)
	if unpriced(models) && grant.Limits.HardMoney() && !grant.Limits.Unpriced {
		all = append(all, "it has a hard limit of money, and no model that it may call has a known price, so its calls are refused (402): "+
			"add prices in a catalog, or set unpriced allow in runtime_keys")
	}
	tokens, money := leastReserved(models, grant.Limits.Caps)
	for _, s := range grant.Limits.Subjects {
		if s.Name != key.Subject() {
			continue // of its tenant or of the gateway
		}
		for _, b := range s.Budgets {
			least := tokens
			if b.Unit == limits.Money {
				least = money
			}
			if b.Hard() && b.Limit < least && least != math.MaxInt64 {
				all = append(all, fmt.Sprintf("its budget %s is smaller than what a call reserves that does not say how long its answer may be, "+
					"at least %s: such calls are refused (402); set max_output_tokens, or a larger budget", b, amount(b.Unit, least)))
			}
		}
	}
	return all
}

// unpriced reports whether there are models and none has a known price.
func unpriced(models []catalog.Model) bool {
	for i := range models {
		if models[i].Price != nil {
			return false
		}
	}
	return len(models) > 0
}

// leastReserved is what the cheapest model that writes text reserves for its answer, in tokens and
// in nano-USD. Both are math.MaxInt64 if there is none, or none with a price.
func leastReserved(models []catalog.Model, caps policy.Caps) (tokens, money int64) {
	tokens, money = math.MaxInt64, math.MaxInt64
	for i := range models {
		model := &models[i]
		if !model.Serves(catalog.OpChat) && !model.Serves(catalog.OpResponses) {
			continue
		}
		output := modelcall.UsualOutput(model, caps)
		tokens = min(tokens, output)
		if cost, ok := model.Price.MostNano(catalog.Most{Completion: output}); ok {
			money = min(money, cost)
		}
	}
	return tokens, money
}

func amount(unit limits.Unit, n int64) string {
	if unit == limits.Money {
		return limits.FormatMoney(n) + " USD"
	}
	return fmt.Sprintf("%d tokens", n)
}
