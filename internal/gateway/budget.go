package gateway

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// eventExhausted is the event of a budget that lets no more calls through.
const eventExhausted = "budget_exhausted"

// exhausted remembers which budgets it was told of. There is one entry a
// budget that was configured at any time.
type exhausted struct {
	mu   sync.Mutex
	told map[string]time.Time // the period's beginning, by subject and budget
}

// first tells whether this budget's period was not yet told of. A budget that is
// raised is another one.
func (e *exhausted) first(b limits.Balance) bool {
	name := b.Subject + "\x00" + b.Budget.String()
	e.mu.Lock()
	defer e.mu.Unlock()
	if begins, ok := e.told[name]; ok && begins.Equal(b.Begins) {
		return false
	}
	if e.told == nil {
		e.told = make(map[string]time.Time)
	}
	e.told[name] = b.Begins
	return true
}

// used tells whether what is spent alone has used a budget up: a call that needs
// a tenth of it, or less, has no room. A caller who asks for more tells nothing
// about the budget.
func used(r *limits.Refusal) bool {
	small := r.Budget.Limit / 10
	return r.Spent >= r.Budget.Limit || r.Amount <= small && r.Spent > r.Budget.Limit-r.Amount
}

// budgetRefusal is the refusal of a call. The event is emitted once a period,
// when the budget is used up.
func (c *Call) budgetRefusal(r *limits.Refusal) *apierror.Error {
	if used(r) && c.gateway.state.exhausted.first(r.Balance) {
		data := map[string]any{
			"subject": r.Subject, "budget": r.Budget.String(), "limit": amountText(r.Budget, r.Budget.Limit),
			"spent": amountText(r.Budget, r.Spent), "reserved": amountText(r.Budget, r.Reserved),
		}
		if !r.ResetsAt.IsZero() {
			data["resets_at"] = r.ResetsAt.Format(time.RFC3339)
		}
		c.gateway.state.Emit(eventExhausted, data)
	}
	again := "it is never reset"
	if !r.ResetsAt.IsZero() {
		again = "it is reset at " + r.ResetsAt.Format(time.RFC3339)
	}
	text := func(n int64) string { return amountText(r.Budget, n) }
	e := apierror.New(apierror.BudgetExceeded, "the budget of %s, %s, has %s spent and %s reserved; this call may need %s; %s",
		r.Subject, r.Budget, text(r.Spent), text(r.Reserved), text(r.Amount), again)
	if r.Amount == 0 {
		e = apierror.New(apierror.BudgetExceeded, "the budget of %s, %s, is used up; %s", r.Subject, r.Budget, again)
	}
	e.LimitSource = r.Subject
	return e
}

// amountText is an amount in the budget's unit.
func amountText(b limits.Budget, n int64) string {
	if b.Unit == limits.Money {
		return limits.FormatMoney(n) + " USD"
	}
	return strconv.FormatInt(n, 10) + " tokens"
}

// Balances are what has become of a key's own budgets.
func (g *Gateway) Balances(ctx context.Context, key string) ([]limits.Balance, error) {
	k := g.limits.of(key)
	if k == nil {
		return nil, nil
	}
	subjects := slices.DeleteFunc(slices.Clone(k.Subjects), func(s limits.Subject) bool { return s.Name != KeySubject(key) })
	return g.ledger.Status(ctx, g.now(), subjects)
}

// AllBalances are those of every subject with a budget, by name.
func (g *Gateway) AllBalances(ctx context.Context) ([]limits.Balance, error) {
	var all []limits.Balance
	for part := range slices.Chunk(g.limits.subjects(), limits.MaxSubjects) {
		balances, err := g.ledger.Status(ctx, g.now(), part)
		if err != nil {
			return nil, err
		}
		all = append(all, balances...)
	}
	return all, nil
}
