package policy

import (
	"strconv"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// eventExhausted is the event of a budget that is used up.
const eventExhausted = "budget_exhausted"

// ExhaustedBudgets emits one event for each period in which a budget is used up. There is one for
// all configurations of a process.
type ExhaustedBudgets struct {
	emit func(name string, data map[string]any)

	mu      sync.Mutex
	emitted map[string]time.Time // the beginning of the period, by subject and budget
}

// NewExhaustedBudgets returns one that emits its events by emit.
func NewExhaustedBudgets(emit func(name string, data map[string]any)) *ExhaustedBudgets {
	return &ExhaustedBudgets{emit: emit, emitted: make(map[string]time.Time)}
}

// first reports whether no event was emitted for this period of the budget. A budget that was raised
// is another one. If there are too many, all are forgotten and their events can be emitted again.
func (e *ExhaustedBudgets) first(b limits.Balance) bool {
	name := b.Subject + "\x00" + b.Budget.String()
	e.mu.Lock()
	defer e.mu.Unlock()
	if begins, ok := e.emitted[name]; ok && begins.Equal(b.Begins) {
		return false
	}
	if len(e.emitted) >= maxEmitted {
		clear(e.emitted)
	}
	e.emitted[name] = b.Begins
	return true
}

// maxEmitted bounds the budgets that are remembered, to about 16 MiB: keys made at run time come and
// go.
const maxEmitted = 100_000

// usedUp reports whether the spending alone has used a budget up: it refuses a call that needs a
// tenth of it or less. A larger call that does not fit says nothing about the budget.
func usedUp(r *limits.Refusal) bool {
	small := r.Budget.Limit / 10
	return r.Spent >= r.Budget.Limit || r.Amount <= small && r.Spent > r.Budget.Limit-r.Amount
}

// Refusal returns the refusal of a call by its budget, and emits the event if the budget is used up.
func (e *ExhaustedBudgets) Refusal(r *limits.Refusal) *apierror.Error {
	if usedUp(r) && e.first(r.Balance) {
		data := map[string]any{
			"subject": r.Subject, "budget": r.Budget.String(), "limit": amountText(r.Budget, r.Budget.Limit),
			"spent": amountText(r.Budget, r.Spent), "reserved": amountText(r.Budget, r.Reserved),
		}
		if !r.ResetsAt.IsZero() {
			data["resets_at"] = r.ResetsAt.Format(time.RFC3339)
		}
		e.emit(eventExhausted, data)
	}
	again := "it is never reset"
	if !r.ResetsAt.IsZero() {
		again = "it is reset at " + r.ResetsAt.Format(time.RFC3339)
	}
	text := func(n int64) string { return amountText(r.Budget, n) }
	refusal := apierror.New(apierror.BudgetExceeded, "the budget of %s, %s, has %s spent and %s reserved; this call may need %s; %s",
		r.Subject, r.Budget, text(r.Spent), text(r.Reserved), text(r.Amount), again)
	if r.Amount == 0 {
		refusal = apierror.New(apierror.BudgetExceeded, "the budget of %s, %s, is used up; %s", r.Subject, r.Budget, again)
	}
	refusal.LimitSource, refusal.RefusedBy = r.Subject, RefusedBy(r.Subject, "budget", r.Budget.String())
	return refusal
}

// amountText returns an amount in the unit of the budget.
func amountText(b limits.Budget, n int64) string {
	if b.Unit == limits.Money {
		return limits.FormatMoney(n) + " USD"
	}
	return strconv.FormatInt(n, 10) + " tokens"
}
