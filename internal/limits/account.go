package limits

import "time"

type ledgerSubject struct {
	node
	accounts []*account // guarded by mu, with everything they point to
}

// account holds one subject's use of one kind of budget.
type account struct {
	unit         Unit
	period       Period
	begins, ends int64 // of the current period, Unix seconds
	now          *tally
}

// tally is one period of an account. Calls keep a pointer to it after the period has ended.
type tally struct {
	row             ledgerKey
	spent, reserved int64
}

func newLedgerSubject(name string) *ledgerSubject { return &ledgerSubject{node: node{name: name}} }

// account must be called with mu held.
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

// at returns the tally of the period that contains sec, or of the current period if that is later.
// It must be called with mu held.
func (s *ledgerSubject) at(b Budget, sec int64) (*account, *tally) {
	a := s.account(b.Unit, b.Period)
	if a.now == nil || sec >= a.ends {
		a.begins, a.ends = a.period.span(sec)
		a.now = &tally{row: ledgerKey{s.name, budgetName(b.Unit, b.Period), b.Period.periodName(a.begins)}}
	}
	return a, a.now
}

func (a *account) balance(subject string, b Budget) Balance {
	balance := b.within(subject, a.begins, a.ends)
	balance.Spent, balance.Reserved = a.now.spent, a.now.reserved
	return balance
}

// within returns the balance of a period of which nothing is spent.
func (b Budget) within(subject string, begins, ends int64) Balance {
	balance := Balance{Subject: subject, Budget: b}
	if b.Period != Total {
		balance.Begins, balance.ResetsAt = date(begins), date(ends)
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

// later reports whether a period with this end keeps a call out for longer than the refusal does.
func (r *Refusal) later(ends int64, p Period) bool {
	return r.Budget.Period != Total && (p == Total || ends > r.ResetsAt.Unix())
}

func (r *ReserveRequest) amount(b Budget) int64 {
	if b.Soft {
		return r.Likely.of(b.Unit)
	}
	return r.Most.of(b.Unit)
}
