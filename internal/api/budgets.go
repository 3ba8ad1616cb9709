package api

import (
	"math"
	"net/http"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// The headers by which Claude Code shows its person a budget (gateway protocol 1, "Usage-limit
// headers"), all with the prefix anthropic-ratelimit-unified-:
//
//	                             answer        the budget refuses: 429
//	status                       allowed       rejected
//	overage-status               allowed
//	representative-claim         overage
//	overage-utilization          0.82          1
//	overage-surpassed-threshold  0.75          1
//	reset, overage-reset         Unix seconds  Unix seconds
//	overage-period                             daily, weekly, monthly
//	overage-disabled-reason                    org_spend_cap_reached
//	overage-scope                              group_pool, if it is shared
//
// An answer has a threshold, of 0.75 and 0.95, and the status allowed_warning, when more than it is
// spent. A refusal must not have a claim, and no other 429 may have any of them: the client would
// show a sentence of its own in place of the message.
const budgetPrefix = "Anthropic-Ratelimit-Unified-"

// ShowBudget implements [wire.BudgetAPI].
func (Anthropic) ShowBudget(h http.Header, b *apierror.Budget) {
	used, status := math.Min(math.Floor(b.Used*100)/100, 0.99), "allowed"
	for _, threshold := range []float64{0.95, 0.75} {
		if b.Used > threshold {
			status = "allowed_warning"
			setBudget(h, "Overage-Surpassed-Threshold", strconv.FormatFloat(threshold, 'f', 2, 64))
			break
		}
	}
	setBudget(h, "Status", status)
	setBudget(h, "Overage-Status", status)
	setBudget(h, "Representative-Claim", "overage")
	setBudget(h, "Overage-Utilization", strconv.FormatFloat(used, 'f', 2, 64))
	showReset(h, b)
}

// refuseBudget sets the headers of a refusal.
func refuseBudget(h http.Header, b *apierror.Budget) {
	setBudget(h, "Status", "rejected")
	setBudget(h, "Overage-Utilization", "1")
	setBudget(h, "Overage-Surpassed-Threshold", "1")
	setBudget(h, "Overage-Disabled-Reason", "org_spend_cap_reached")
	setBudget(h, "Overage-Period", b.Period)
	if b.Shared {
		setBudget(h, "Overage-Scope", "group_pool")
	}
	showReset(h, b)
}

func showReset(h http.Header, b *apierror.Budget) {
	if !b.ResetsAt.IsZero() {
		at := strconv.FormatInt(b.ResetsAt.Unix(), 10)
		setBudget(h, "Reset", at)
		setBudget(h, "Overage-Reset", at)
	}
}

func setBudget(h http.Header, name, value string) {
	if value != "" {
		h[budgetPrefix+name] = []string{value}
	}
}
