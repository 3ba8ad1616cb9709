package admin

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// budgetView is a budget in the operator's API. Amounts are texts: decimal USD, or a number of
// tokens.
type budgetView struct {
	// Subject is the owner: "key:dev", "tenant:acme", "gateway".
	Subject string `json:"subject"`
	// Budget is as configured: "10usd/day".
	Budget string `json:"budget"`
	// Unit is usd or tokens.
	Unit string `json:"unit"`
	// Limit is the limit of the period.
	Limit string `json:"limit"`
	// Spent is what ended calls of this period have spent.
	Spent string `json:"spent"`
	// Reserved is what calls under way have reserved.
	Reserved string `json:"reserved"`
	// ResetsAt is the end of the period; absent: never.
	ResetsAt *time.Time `json:"resets_at,omitempty"`
}

func viewOf(b limits.Balance) budgetView {
	text := func(n int64) string { return strconv.FormatInt(n, 10) }
	if b.Budget.Unit == limits.Money {
		text = limits.FormatMoney
	}
	v := budgetView{
		Subject: b.Subject, Budget: b.Budget.String(), Unit: b.Budget.Unit.String(),
		Limit: text(b.Budget.Limit), Spent: text(b.Spent), Reserved: text(b.Reserved),
	}
	if !b.ResetsAt.IsZero() {
		v.ResetsAt = &b.ResetsAt
	}
	return v
}

// listBudgets lists all budgets.
func listBudgets(active *gateway.Gateway, r *http.Request) (any, error) {
	balances, err := report.AllBudgets(r.Context(), active.Requests())
	if err != nil {
		return nil, err
	}
	views := make([]budgetView, len(balances))
	for i, b := range balances {
		views[i] = viewOf(b)
	}
	return views, nil
}
