package limits

import "time"

type ledgerSubject struct {
	node
	accounts []*account // guarded by mu, with all they point to
}

// account is what one subject has of one kind of budget.
type account struct {
	unit         Unit
	period       Period
	begins, ends int64 // of the current period, Unix seconds
	now          *tally
}

// tally is one period of an account. The holds of calls keep it after the period is over.
type tally struct {
	row             ledgerKey
	spent, reserved int64
}

func newLedgerSubject(name string) *ledgerSubject { return &ledgerSubject{node: node{name: name}} }

// account is called with mu held.
func (s *ledgerSubject) account(u Unit, p Period) *account {
	for _, a := range s.accounts {
		if a.unit == u && a.period == p {
			return a
		}
	}
	a := &account{unit: u, period: p}
	s.accounts = append(s.accounts, a)
	return a
}

// at is the tally of the period that sec lies in, or of the current one if that is later. It is called with mu held.
func (s *ledgerSubject) at(b Budget, sec int64) (*account, *tally) {
	a := s.account(b.Unit, b.Period)
	if a.now == nil || sec >= a.ends {
		a.begins, a.ends = a.period.span(sec)
		a.now = &tally{row: ledgerKey{s.name, budgetName(b.Unit, b.Period), b.Period.periodName(a.begins)}}
	}
	return a, a.now
}

func (a *account) balance(subject string, b Budget) Balance {
	balance := Balance{Subject: subject, Budget: b, Spent: a.now.spent, Reserved: a.now.reserved}
	if b.Period != Total {
		balance.Begins, balance.ResetsAt = date(a.begins), date(a.ends)
	}
	return balance
}

func (b Balance) refusal(amount int64, at time.Time) *Refusal {
	r := &Refusal{Balance: b, Amount: amount}
	if !b.ResetsAt.IsZero() {
		r.RetryAfter = b.ResetsAt.Sub(at)
	}
	return r
}

// later tells whether a period that ends then keeps a call out for longer than the refusal does.
func (r *Refusal) later(ends int64, p Period) bool {
	return r.Budget.Period != Total && (p == Total || ends > r.ResetsAt.Unix())
}

func (r *Reservation) amount(b Budget) int64 {
	if b.Soft {
		return r.Likely.of(b.Unit)
	}
	return r.Most.of(b.Unit)
}
