package limits

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const (
	// maxLedgerSubjects bounds the hot copy to about 300 MiB: keys and tenants are configured, not chosen by clients.
	maxLedgerSubjects = 1 << 20
	// maxHolds bounds the calls under way.
	maxHolds = 1 << 20
)

// SQLiteLedger is the Ledger of one machine: a hot copy in memory, rows in the store. Each subject has a lock of its own, so a
// call waits for others of the same subjects only.
//
// Rows go with the store's group commit, and what a kill -9 loses follows from that:
//
//   - A Durable reservation waits for its commit, which it forces (a write to the log, not a sync of the disk). Nothing of
//     it is lost: its call is charged as reserved at the next start.
//   - Another reservation waits for nothing. Calls admitted within the last commit interval (50 ms) leave no trace.
//   - A settlement waits for nothing. If it is lost its call is charged as reserved, which is what it used or more, unless
//     the provider exceeded the reserve or a soft budget's estimate was low.
//
// A power cut may also lose the commits since the log was last synced, as the store says.
type SQLiteLedger struct {
	store    sink
	subjects table[ledgerSubject]
	calls    calls

	behind  atomic.Bool // backlog is not empty
	mu      sync.Mutex  // guards backlog
	backlog []*ledgerRows

	watch func(Balance) // for tests: every change, with the subject locked
}

// sink is the part of a store.Store that is written to.
type sink interface {
	Submit(store.Op) error
	Flush(context.Context) error
	Health() error
}

// Reserve implements Ledger.
func (l *SQLiteLedger) Reserve(ctx context.Context, r Reservation) (*Refusal, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.Durable {
		if err := l.store.Health(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
	h := &held{}
	h.mu.Lock()
	defer h.mu.Unlock()
	first, ok := l.calls.begin(r.Call, h)
	if !ok {
		return nil, fmt.Errorf("%w: %d calls under way", ErrUnavailable, maxHolds)
	}
	if first != h {
		return first.answer()
	}
	refusal, err := l.take(&r, h)
	if refusal != nil || err != nil {
		h.ended, h.refusal, h.err = true, refusal, err
		l.calls.end(r.Call, err == nil)
		return refusal, err
	}
	queued, err := l.write(h.rows(&r))
	if !r.Durable {
		return nil, nil // as memory has it
	}
	if err == nil && queued {
		err = l.store.Flush(ctx)
	} else if err == nil {
		err = store.ErrFull
	}
	if err != nil {
		h.err = fmt.Errorf("%w: %w", ErrUnavailable, err)
		_ = l.end(r.Call, h, Amount{}) // it fails for the same reason
	}
	return nil, h.err
}

// take reserves in memory, everything or nothing.
func (l *SQLiteLedger) take(r *Reservation, h *held) (refusal *Refusal, err error) {
	var rooms [MaxSubjects]*ledgerSubject
	var order [MaxSubjects]*node
	found, ns := rooms[:len(r.Subjects)], nodes(order[:0])
	for i := range r.Subjects {
		if len(r.Subjects[i].Budgets) == 0 {
			continue
		}
		if found[i] = l.subjects.get(r.Subjects[i].Name, newLedgerSubject); found[i] == nil {
			return nil, fmt.Errorf("%w: more than %d subjects", ErrUnavailable, maxLedgerSubjects)
		}
		ns = append(ns, &found[i].node)
	}
	ns.lock()
	defer ns.unlock()
	sec := r.At.Unix()
	h.lines = h.few[:0]
	for i, s := range found {
		for _, b := range r.Subjects[i].Budgets {
			a, t := s.at(b, sec)
			amount := r.amount(b)
			if t.spent >= b.Limit || plus(plus(t.spent, t.reserved), amount) > b.Limit {
				if refusal == nil || refusal.later(a.ends, b.Period) {
					refusal = a.balance(s.name, b).refusal(amount, r.At)
				}
				continue
			}
			h.lines = append(h.lines, heldLine{s, b, t, amount})
		}
	}
	if refusal != nil {
		h.lines = nil
		return refusal, nil
	}
	for _, line := range h.lines {
		line.tally.reserved += line.amount
		l.watched(line)
	}
	return nil, nil
}

func (l *SQLiteLedger) watched(line heldLine) {
	if l.watch != nil {
		l.watch(Balance{Subject: line.subject.name, Budget: line.budget, Spent: line.tally.spent, Reserved: line.tally.reserved})
	}
}

// Settle implements Ledger.
func (l *SQLiteLedger) Settle(_ context.Context, call string, used Amount) error {
	if call == "" || len(call) > MaxCall || used.Nano < 0 || used.Tokens < 0 {
		return fmt.Errorf("%w: settling a call's id of %d bytes with %d nano-USD and %d tokens", ErrInvalid, len(call), used.Nano, used.Tokens)
	}
	h := l.calls.find(call)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return nil
	}
	return l.end(call, h, used)
}

// end is called with h.mu held, once.
func (l *SQLiteLedger) end(call string, h *held, used Amount) error {
	rows := &ledgerRows{closed: []string{call}}
	for _, line := range h.lines {
		amount := used.of(line.budget.Unit)
		line.subject.mu.Lock()
		line.tally.reserved -= line.amount
		line.tally.spent = plus(line.tally.spent, amount)
		l.watched(line)
		line.subject.mu.Unlock()
		if amount > 0 {
			rows.spent = append(rows.spent, spentRow{line.tally.row, amount, 1})
		}
	}
	h.ended, h.lines, h.few = true, nil, [2]heldLine{}
	l.calls.end(call, h.err == nil)
	if _, err := l.write(rows); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}

// Exhausted implements Ledger.
func (l *SQLiteLedger) Exhausted(_ context.Context, at time.Time, subjects []Subject) (*Refusal, error) {
	if err := checkSubjects(at, subjects); err != nil {
		return nil, err
	}
	for i := range subjects {
		s := l.subjects.find(subjects[i].Name)
		if s == nil {
			continue // has spent nothing yet
		}
		for _, b := range subjects[i].Budgets {
			s.mu.Lock()
			a, t := s.at(b, at.Unix())
			if t.spent >= b.Limit {
				defer s.mu.Unlock()
				return a.balance(s.name, b).refusal(0, at), nil
			}
			s.mu.Unlock()
		}
	}
	return nil, nil
}

// Status implements Ledger.
func (l *SQLiteLedger) Status(_ context.Context, at time.Time, subjects []Subject) ([]Balance, error) {
	if err := checkSubjects(at, subjects); err != nil {
		return nil, err
	}
	var balances []Balance
	for i := range subjects {
		s := l.subjects.find(subjects[i].Name)
		if s == nil {
			s = newLedgerSubject(subjects[i].Name)
		}
		for _, b := range subjects[i].Budgets {
			s.mu.Lock()
			a, _ := s.at(b, at.Unix())
			balances = append(balances, a.balance(s.name, b))
			s.mu.Unlock()
		}
	}
	return balances, nil
}

// Subjects implements Ledger.
func (l *SQLiteLedger) Subjects(_ context.Context, at time.Time) ([]string, error) {
	var names []string
	for _, s := range l.subjects.all() {
		s.mu.Lock()
		for _, a := range s.accounts {
			if a.now != nil && a.now.spent > 0 && at.Unix() < a.ends {
				names = append(names, s.name)
				break
			}
		}
		s.mu.Unlock()
	}
	slices.Sort(names)
	return names, nil
}
