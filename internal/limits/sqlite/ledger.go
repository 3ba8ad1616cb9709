// Package sqlite keeps the limits of one gateway: in memory, and in the store of its data directory.
//
//	ledger, crashed, err := sqlite.OpenLedger(ctx, st) // crashed: interrupted calls, charged as reserved
//	rates, err := sqlite.NewRates(ctx, st, time.Now)   // without a store they are in memory only
//
// The rules are those of package limits.
package sqlite

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const (
	// maxLedgerSubjects bounds memory to about 300 MiB. Keys and tenants are configured; clients do
	// not choose them.
	maxLedgerSubjects = 1 << 20
	// maxOpenCalls bounds the calls under way.
	maxOpenCalls = 1 << 20
	// defaultTimeout bounds a Durable reservation without a Timeout.
	defaultTimeout = time.Minute
)

// Ledger is the Ledger of one machine: a copy in memory, rows in the store. Each subject has
// its own lock, so a call waits only for calls of the same subjects.
//
// Rows are written with the store's group commit. A kill -9 therefore has these effects:
//
//   - A Durable reservation waits until it is in the store's redo log (a write, not a sync of the
//     disk). It is not lost: its call is charged as reserved at the next start.
//   - Any other reservation does not wait. Calls admitted within the last commit interval (50 ms)
//     leave no trace.
//   - A settlement does not wait. If it is lost, its call is charged as reserved. That is at least
//     what it used, unless the provider exceeded the reservation or the estimate of a soft budget
//     was too low.
//
// A power failure may also lose the commits since the last sync of the log, as described in package
// store.
type Ledger struct {
	store    sink
	subjects table[ledgerSubject]
	calls    calls

	behind  atomic.Bool // backlog is not empty
	mu      sync.Mutex  // guards backlog
	backlog []*ledgerRows
}

// sink is the part of store.Store that the package writes to.
type sink interface {
	Submit(store.Op) error
	SubmitDurable(ctx context.Context, op store.Logged, timeout time.Duration) error
	Health() error
}

// Reserve implements Ledger.
func (l *Ledger) Reserve(ctx context.Context, r limits.ReserveRequest) (*limits.Refusal, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if r.Durable {
		if err := l.store.Health(); err != nil {
			return nil, fmt.Errorf("%w: %w", limits.ErrUnavailable, err)
		}
	}
	h := &ledgerCall{}
	h.mu.Lock()
	defer h.mu.Unlock()
	first, ok := l.calls.begin(r.Call, h)
	if !ok {
		return nil, fmt.Errorf("%w: %d calls under way", limits.ErrUnavailable, maxOpenCalls)
	}
	if first != h {
		return first.repeatedAnswer()
	}
	refusal, err := l.reserve(&r, h)
	if refusal != nil || err != nil {
		h.ended, h.refusal, h.err = true, refusal, err
		l.calls.end(r.Call, err == nil)
		return refusal, err
	}
	rows := h.rows(&r)
	if !r.Durable {
		_ = l.write(rows) // it is reserved in memory
		return nil, nil
	}
	if err := l.writeDurably(ctx, rows, r.Timeout); err != nil {
		h.err = fmt.Errorf("%w: %w", limits.ErrUnavailable, err)
		_ = l.end(r.Call, h, limits.Amount{}) // it fails for the same reason
	}
	return nil, h.err
}

// reserve reserves in memory, everything or nothing.
func (l *Ledger) reserve(r *limits.ReserveRequest, h *ledgerCall) (refusal *limits.Refusal, err error) {
	var subjectBuffer [limits.MaxSubjects]*ledgerSubject
	var nodeBuffer [limits.MaxSubjects]*node
	found, ns := subjectBuffer[:len(r.Subjects)], nodes(nodeBuffer[:0])
	for i := range r.Subjects {
		if len(r.Subjects[i].Budgets) == 0 {
			continue
		}
		if found[i] = l.subjects.get(r.Subjects[i].Name, newLedgerSubject); found[i] == nil {
			return nil, fmt.Errorf("%w: more than %d subjects", limits.ErrUnavailable, maxLedgerSubjects)
		}
		ns = append(ns, &found[i].node)
	}
	ns.lock()
	defer ns.unlock()
	h.amounts = h.firstAmounts[:0]
	for i, s := range found {
		for _, b := range r.Subjects[i].Budgets {
			a, t := s.at(b, r.At)
			amount := r.Amount(b)
			if balance := a.balance(s.name, b); !balance.Fits(amount) {
				if refusal == nil || balance.After(refusal.Balance) {
					refusal = balance.Refuse(amount, r.At)
				}
				continue
			}
			h.amounts = append(h.amounts, reservedAmount{s, b, t, amount})
		}
	}
	if refusal != nil {
		h.amounts = nil
		return refusal, nil
	}
	for _, reserved := range h.amounts {
		reserved.tally.reserved += reserved.amount
	}
	return nil, nil
}

// Settle implements Ledger.
func (l *Ledger) Settle(_ context.Context, call string, used limits.Amount) error {
	if err := limits.CheckSettle(call, used); err != nil {
		return err
	}
	h := l.calls.find(call)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return nil
	}
	return l.end(call, h, used)
}

// end must be called once, with h.mu held.
func (l *Ledger) end(call string, h *ledgerCall, used limits.Amount) error {
	op := &endRows{call: [1]string{call}}
	rows := &op.ledgerRows
	rows.closed, rows.spent = op.call[:], op.spent[:0]
	for _, reserved := range h.amounts {
		amount := used.Of(reserved.budget.Unit)
		reserved.subject.mu.Lock()
		reserved.tally.reserved -= reserved.amount
		reserved.tally.spent = limits.Plus(reserved.tally.spent, amount)
		reserved.subject.mu.Unlock()
		if amount > 0 {
			rows.spent = append(rows.spent, spentRow{reserved.tally.row, amount, 1})
		}
	}
	h.ended, h.amounts, h.firstAmounts = true, nil, [usualBudgets]reservedAmount{}
	l.calls.end(call, h.err == nil)
	if err := l.write(rows); err != nil {
		return fmt.Errorf("%w: %w", limits.ErrUnavailable, err)
	}
	return nil
}

// Exhausted implements Ledger.
func (l *Ledger) Exhausted(_ context.Context, at time.Time, subjects []limits.Subject) (*limits.Refusal, error) {
	if err := limits.CheckSubjects(at, subjects); err != nil {
		return nil, err
	}
	for i := range subjects {
		s := l.subjects.find(subjects[i].Name)
		if s == nil {
			continue // has spent nothing yet
		}
		for _, b := range subjects[i].Budgets {
			s.mu.Lock()
			a, t := s.at(b, at)
			if t.spent >= b.Limit {
				defer s.mu.Unlock()
				return a.balance(s.name, b).Refuse(0, at), nil
			}
			s.mu.Unlock()
		}
	}
	return nil, nil
}

// Status implements Ledger.
func (l *Ledger) Status(_ context.Context, at time.Time, subjects []limits.Subject) ([]limits.Balance, error) {
	if err := limits.CheckSubjects(at, subjects); err != nil {
		return nil, err
	}
	var balances []limits.Balance
	for i := range subjects {
		s := l.subjects.find(subjects[i].Name)
		for _, b := range subjects[i].Budgets {
			if s == nil {
				balances = append(balances, b.Unspent(subjects[i].Name, at))
				continue
			}
			s.mu.Lock()
			a, _ := s.at(b, at)
			balances = append(balances, a.balance(s.name, b))
			s.mu.Unlock()
		}
	}
	return balances, nil
}

// Subjects implements Ledger.
func (l *Ledger) Subjects(_ context.Context, at time.Time) ([]string, error) {
	var names []string
	for _, s := range l.subjects.all() {
		s.mu.Lock()
		for _, a := range s.accounts {
			if a.now != nil && a.now.spent > 0 && !a.ended(at) {
				names = append(names, s.name)
				break
			}
		}
		s.mu.Unlock()
	}
	slices.Sort(names)
	return names, nil
}
