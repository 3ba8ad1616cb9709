package modelcall

import (
	"fmt"
	"math"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// BudgetWarnings says which hard budgets of a subject let no call through: one of money where no
// model has a known price, and one that is smaller than what a call reserves that does not say how
// long its answer may be. Models are those that the key can call. Each is a sentence without a full
// stop.
func BudgetWarnings(subject string, key *policy.KeyLimits, models []catalog.Model) (all []string) {
	if key == nil || !key.Hard() {
		return nil
	}
	unpriced, tokens, nano := leastReserved(models, key.Caps)
	if unpriced && key.HardMoney() && !key.Unpriced {
		all = append(all, "it has a hard limit of money, and no model that it may call has a known price, so its calls are refused (402): "+
			"add prices in a catalog, or set unpriced allow in runtime_keys")
	}
	for _, s := range key.Subjects {
		if s.Name != subject {
			continue // of its tenant or of the gateway
		}
		for _, b := range s.Budgets {
			least, text := tokens, fmt.Sprintf("%d tokens", tokens)
			if b.Unit == limits.Money {
				least, text = nano, limits.FormatMoney(nano)+" USD"
			}
			if b.Hard() && b.Limit < least && least != math.MaxInt64 {
				all = append(all, fmt.Sprintf("its budget %s is smaller than what a call reserves that does not say how long its answer may be, "+
					"at least %s: such calls are refused (402); set max_output_tokens, or a larger budget", b, text))
			}
		}
	}
	return all
}

// leastReserved is what the cheapest model that writes text reserves for an answer. Both are
// math.MaxInt64 if there is none, or none with a price. Unpriced reports whether there are models
// and none has a known price.
func leastReserved(models []catalog.Model, caps policy.Caps) (unpriced bool, tokens, nano int64) {
	unpriced, tokens, nano = len(models) > 0, math.MaxInt64, math.MaxInt64
	for i := range models {
		model := &models[i]
		unpriced = unpriced && model.Price == nil
		if !model.Serves(catalog.OpResponses) { // which all serve that write text
			continue
		}
		output := usualOutput(model, caps)
		tokens = min(tokens, output)
		if cost, ok := model.Price.MostNano(catalog.Most{Completion: output}); ok {
			nano = min(nano, cost)
		}
	}
	return unpriced, tokens, nano
}
