package policy

import (
	"fmt"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Own returns the limits that the key has for itself, of no other caller: none or one.
func (k *KeyLimits) Own(name string) []limits.Subject {
	if len(k.Subjects) > 0 && k.Subjects[0].Name == KeySubject(name) {
		return k.Subjects[:1]
	}
	return nil
}

// Fullest returns which balance has the most spent of its budget, -1 for none. What is reserved
// comes and goes, and does not count.
func Fullest(balances []limits.Balance) int {
	fullest := -1
	for i, b := range balances {
		if b.Budget.Limit != limits.NoLimit && (fullest < 0 || UsedPart(b) > UsedPart(balances[fullest])) {
			fullest = i
		}
	}
	return fullest
}

// UsedPart returns the part of a budget that is spent.
func UsedPart(b limits.Balance) float64 { return float64(b.Spent) / float64(b.Budget.Limit) }

// PeriodName is how clients name a period, "" for one that never ends.
func PeriodName(p limits.Period) string { return periodNames[p] }

var periodNames = map[limits.Period]string{limits.Daily: "daily", limits.Weekly: "weekly", limits.Monthly: "monthly"}

// ShownBudget returns the fullest of a caller's own budgets as headers show it, nil for none.
func ShownBudget(balances []limits.Balance) *apierror.Budget {
	i := Fullest(balances)
	if i < 0 {
		return nil
	}
	return shownBudget(balances[i])
}

func shownBudget(b limits.Balance) *apierror.Budget {
	return &apierror.Budget{Used: UsedPart(b), Period: PeriodName(b.Budget.Period), ResetsAt: b.ResetsAt}
}

// ToPerson makes the refusal by a budget one that the client of a caller shows its person: a
// sentence that says when there is more, and whom to ask.
func ToPerson(e *apierror.Error, r *limits.Refusal, name string) {
	e.Budget, e.RetryAfter = shownBudget(r.Balance), r.RetryAfter
	e.Budget.Shared = r.Subject != KeySubject(name)
	whose := "your budget"
	if e.Budget.Shared {
		whose = "the budget of " + strings.Replace(r.Subject, ":", " ", 1)
	}
	what := "is used up"
	if !usedUp(r) {
		what = fmt.Sprintf("has %s left, and this request may need %s", amountText(r.Budget, r.Remaining()), amountText(r.Budget, r.Amount))
	}
	until := "it is never full again"
	if !r.ResetsAt.IsZero() {
		until = "it is full again at " + r.ResetsAt.UTC().Format("15:04 UTC on Jan 2")
	}
	e.Message = fmt.Sprintf("%s, %s, %s · %s · ask who runs this gateway for more", whose, strings.TrimSuffix(r.Budget.String(), " soft"), what, until)
}
