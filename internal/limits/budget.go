package limits

import "time"

// What any Ledger needs to know of budgets and periods.

// Name is how databases name a budget of a subject: "usd/day", "tokens/total".
func (b Budget) Name() string { return b.Unit.String() + "/" + b.Period.String() }

// ParseBudgetName reads what Budget.Name wrote.
func ParseBudgetName(name string) (Unit, Period, bool) {
	for _, u := range []Unit{Money, Tokens} {
		for p := Daily; p <= Total; p++ {
			if (Budget{Unit: u, Period: p}).Name() == name {
				return u, p, true
			}
		}
	}
	return 0, 0, false
}

// Amount is what a call takes from a budget.
func (r *ReserveRequest) Amount(b Budget) int64 {
	if b.Soft {
		return r.Likely.Of(b.Unit)
	}
	return r.Most.Of(b.Unit)
}

// Of returns the part of the amount that a unit counts.
func (a Amount) Of(u Unit) int64 {
	if u == Money {
		return a.Nano
	}
	return a.Tokens
}

// Refuse returns the refusal of a call that needs more than the balance has left.
func (b Balance) Refuse(amount int64, at time.Time) *Refusal {
	r := &Refusal{Balance: b, Amount: amount}
	if !b.ResetsAt.IsZero() {
		r.RetryAfter = b.ResetsAt.Sub(at)
	}
	return r
}

// After reports whether this balance resets later than another: it keeps a call out for longer.
func (b Balance) After(other Balance) bool {
	if other.ResetsAt.IsZero() {
		return false
	}
	return b.ResetsAt.IsZero() || b.ResetsAt.After(other.ResetsAt)
}

// Fits reports whether a call may take so much.
func (b Balance) Fits(amount int64) bool {
	return b.Spent < b.Budget.Limit && Plus(Plus(b.Spent, b.Reserved), amount) <= b.Budget.Limit
}

// Unspent is the balance at a time if nothing was spent or reserved.
func (b Budget) Unspent(subject string, at time.Time) Balance {
	begins, ends := b.Period.Span(at)
	return Balance{Subject: subject, Budget: b, Begins: begins, ResetsAt: ends}
}
