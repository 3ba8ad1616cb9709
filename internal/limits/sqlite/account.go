package sqlite

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

type ledgerSubject struct {
	node
	accounts []*account // guarded by mu, with everything they point to
}

// account holds one subject's use of one kind of budget.
type account struct {
	unit         limits.Unit
	period       limits.Period
	begins, ends time.Time // of the current period; zero for Total
	now          *tally
}

// tally is one period of an account. Calls keep a pointer to it after the period has ended.
type tally struct {
	row             ledgerKey
	spent, reserved int64
}

func newLedgerSubject(name string) *ledgerSubject { return &ledgerSubject{node: node{name: name}} }

// account must be called with mu held.
func (s *ledgerSubject) account(u limits.Unit, p limits.Period) *account {
	for _, a := range s.accounts {
		if a.unit == u && a.period == p {
			return a
		}
	}
	a := &account{unit: u, period: p}
	s.accounts = append(s.accounts, a)
	return a
}

// at returns the tally of the period that contains a time, or of the current period if that is
// later. It must be called with mu held.
func (s *ledgerSubject) at(b limits.Budget, at time.Time) (*account, *tally) {
	a := s.account(b.Unit, b.Period)
	if a.now == nil || a.ended(at) {
		a.begins, a.ends = a.period.Span(at)
		a.now = &tally{row: ledgerKey{s.name, b.Name(), b.Period.Name(a.begins)}}
	}
	return a, a.now
}

func (a *account) ended(at time.Time) bool { return !a.ends.IsZero() && !at.Before(a.ends) }

func (a *account) balance(subject string, b limits.Budget) limits.Balance {
	return limits.Balance{Subject: subject, Budget: b, Spent: a.now.spent, Reserved: a.now.reserved, Begins: a.begins, ResetsAt: a.ends}
}
