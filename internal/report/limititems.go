package report

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// The types of limits.
const (
	typeBudget      = "budget"
	typeRate        = "rate"
	typeConcurrency = "concurrency"
)

// limitItems makes the rows of one subject.
type limitItems struct {
	of     policy.Limited
	hidden bool // what is used is not shown
	filter *limitsFilter

	made int // rows, wanted or not
	rows []numberedItem
}

// numberedItem is a row that the filter wants, and its number among the rows of its subject.
type numberedItem struct {
	openrouter.LimitItem
	number int
}

// budgets adds the budgets. What calls under way have reserved counts as used: another call cannot
// have it.
func (l *limitItems) budgets(balances []limits.Balance) {
	for _, b := range balances {
		money := b.Budget.Unit == limits.Money
		item := l.add(typeBudget, limitState{
			limit: b.Budget.Limit, remaining: b.Remaining(), used: float64(b.Spent) + float64(b.Reserved), money: money,
		})
		if item == nil {
			continue
		}
		item.Configured, item.Unit, item.ResetsAt = b.Budget.String(), b.Budget.Unit.String(), openrouter.Timestamp(b.ResetsAt)
		item.BudgetUse = &openrouter.BudgetUse{
			Period: b.Budget.Period.String(), Soft: b.Budget.Soft,
			Spent: l.amount(b.Spent, money), Reserved: l.amount(b.Reserved, money),
		}
	}
}

// rates adds the rates.
func (l *limitItems) rates(uses []limits.RateUse, now time.Time) {
	for _, u := range uses {
		item := l.add(typeRate, limitState{limit: u.Rate.Limit, remaining: max(u.Rate.Limit-u.Used, 0), used: float64(u.Used)})
		if item == nil {
			continue
		}
		item.Configured, item.Unit = u.Rate.String(), u.Rate.Unit.String()
		if u.Reset > 0 && !l.hidden {
			item.ResetsAt = openrouter.Timestamp(now.Add(u.Reset))
		}
		item.RateUse = &openrouter.RateUse{WindowSeconds: int64(u.Rate.Window / time.Second), Used: l.amount(u.Used, false)}
	}
}

// concurrency adds the limit of calls at once, if there is one.
func (l *limitItems) concurrency(use limits.ConcurrencyUse) {
	c := l.of.Concurrency
	if c.Limit == 0 {
		return
	}
	item := l.add(typeConcurrency, limitState{limit: int64(c.Limit), remaining: int64(max(c.Limit-use.InUse, 0)), used: float64(use.InUse)})
	if item == nil {
		return
	}
	item.Configured, item.Unit = c.String(), "calls"
	item.ConcurrencyUse = &openrouter.ConcurrencyUse{
		InUse: l.amount(int64(use.InUse), false), Queued: l.amount(int64(use.Waiting), false), Queue: c.Queue, MaxWaitMS: c.Wait.Milliseconds(),
	}
}

// limitState is what all types of limits have.
type limitState struct {
	limit, remaining int64
	used             float64
	money            bool
}

// add adds a row, which its type completes. It returns nil for one that the filter does not want.
func (l *limitItems) add(kind string, s limitState) *openrouter.LimitItem {
	number := l.made
	l.made++
	ratio, exhausted := openrouter.Ratio(s.used/float64(s.limit)), s.remaining == 0
	if l.hidden {
		ratio = openrouter.NoRatio
	}
	if !l.filter.wants(kind, float64(ratio), exhausted) {
		return nil
	}
	l.rows = append(l.rows, numberedItem{openrouter.LimitItem{
		Subject: l.of.Name, Tenant: openrouter.Text(l.of.Tenant), Type: kind, Limit: openrouter.Amount{N: s.limit, Money: s.money},
		Remaining: l.amount(s.remaining, s.money), UsedRatio: ratio, Exhausted: exhausted,
	}, number})
	return &l.rows[len(l.rows)-1].LimitItem
}

func (l *limitItems) amount(n int64, money bool) openrouter.Amount {
	return openrouter.Amount{N: n, Money: money, Hidden: l.hidden}
}
