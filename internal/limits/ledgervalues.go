package limits

import "time"

// What a Ledger of another package needs to know of budgets and periods.

// Name is how databases name a budget of a subject: "usd/day", "tokens/total".
func (b Budget) Name() string { return budgetName(b.Unit, b.Period) }

// ParseBudgetName reads what Budget.Name wrote.
func ParseBudgetName(name string) (Unit, Period, bool) { return parseBudgetName(name) }

// Span returns the period that contains a time, from begins to before ends. Total has no bounds:
// both are zero.
func (p Period) Span(at time.Time) (begins, ends time.Time) {
	if p == Total {
		return time.Time{}, time.Time{}
	}
	first, last := p.span(at.Unix())
	return date(first), date(last)
}

// Name is how databases name the period with that beginning: "2026-05-13", "all".
func (p Period) Name(begins time.Time) string { return p.periodName(begins.Unix()) }

// ParseName reads what Name wrote.
func (p Period) ParseName(name string) (begins, ends time.Time, err error) {
	first, _, err := p.parsePeriod(name)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	begins, ends = p.Span(date(first))
	return begins, ends, nil
}

// Amount is what a call takes from a budget.
func (r *ReserveRequest) Amount(b Budget) int64 { return r.amount(b) }

// Of returns the part of the amount that a unit counts.
func (a Amount) Of(u Unit) int64 { return a.of(u) }

// Refuse returns the refusal of a call that needs more than the balance has left.
func (b Balance) Refuse(amount int64, at time.Time) *Refusal { return b.refusal(amount, at) }

// After reports whether this balance resets later than another: it keeps a call out for longer.
func (b Balance) After(other Balance) bool {
	if other.ResetsAt.IsZero() {
		return false
	}
	return b.ResetsAt.IsZero() || b.ResetsAt.After(other.ResetsAt)
}
