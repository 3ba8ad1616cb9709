package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// OpenLedger returns the ledger kept in st. The store must have been opened with LedgerSchema
// and must not serve another Ledger. Calls that the last process left under way are charged
// what they had reserved, in the period in which they were admitted. They are reported once, sorted
// by time.
func OpenLedger(ctx context.Context, st *store.Store) (*Ledger, []limits.Crash, error) {
	l := &Ledger{store: st}
	l.subjects.init(maxLedgerSubjects)
	l.calls.init()
	crashed, err := l.recover(ctx, st)
	if err != nil {
		return nil, nil, fmt.Errorf("charging calls that a crash interrupted: %w", err)
	}
	if err := l.load(ctx, st); err != nil {
		return nil, nil, fmt.Errorf("reading the ledger: %w", err)
	}
	return l, crashed, nil
}

// recover charges all open reservations, in one transaction.
func (l *Ledger) recover(ctx context.Context, st *store.Store) ([]limits.Crash, error) {
	if err := st.Flush(ctx); err != nil {
		return nil, err
	}
	var crashed []limits.Crash
	change := &ledgerRows{}
	for rows, err := range store.Rows(ctx, st, "SELECT call, subject, budget, period, amount, at FROM hold ORDER BY call") {
		if err != nil {
			return nil, err
		}
		var call string
		var at int64
		var h openedAmount
		if err := rows.Scan(&call, &h.key.subject, &h.key.budget, &h.key.period, &h.amount, &at); err != nil {
			return nil, err
		}
		if len(crashed) == 0 || crashed[len(crashed)-1].Call != call {
			crashed = append(crashed, limits.Crash{Call: call, At: time.Unix(0, at).UTC()})
			change.closed = append(change.closed, call)
		}
		unit, _, _ := limits.ParseBudgetName(h.key.budget)
		crashed[len(crashed)-1].Charge(unit, h.amount)
		if h.amount > 0 {
			change.spent = append(change.spent, spentRow{h.key, h.amount, 1})
		}
	}
	if len(crashed) == 0 {
		return nil, nil
	}
	if err := st.Submit(merge([]*ledgerRows{change})); err != nil {
		return nil, err
	}
	if err := st.Flush(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(crashed, func(a, b limits.Crash) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Call, b.Call))
	})
	return crashed, nil
}

// load reads the newest period of each account.
func (l *Ledger) load(ctx context.Context, st *store.Store) error {
	for rows, err := range store.Rows(ctx, st, "SELECT subject, budget, max(period), spent FROM ledger GROUP BY subject, budget") {
		if err != nil {
			return err
		}
		var key ledgerKey
		var spent int64
		if err := rows.Scan(&key.subject, &key.budget, &key.period, &spent); err != nil {
			return err
		}
		if err := l.put(key, spent); err != nil {
			return fmt.Errorf("budget %q of %q: %w", key.budget, key.subject, err)
		}
	}
	return nil
}

func (l *Ledger) put(key ledgerKey, spent int64) error {
	unit, period, ok := limits.ParseBudgetName(key.budget)
	if !ok {
		return errors.New("unknown kind of budget")
	}
	begins, ends, err := period.ParseName(key.period)
	if err != nil {
		return err
	}
	s := l.subjects.get(key.subject, newLedgerSubject)
	if s == nil {
		return fmt.Errorf("more than %d subjects", maxLedgerSubjects)
	}
	a := s.account(unit, period)
	a.begins, a.ends, a.now = begins, ends, &tally{row: key, spent: spent}
	return nil
}

// coalesceFrom is the length of a backlog from which its changes are summed.
const coalesceFrom = 1024

// write queues rows. If the store takes no more (its queue is full because the disk fails), they
// wait in memory and are written before later ones.
func (l *Ledger) write(rows *ledgerRows) error {
	if !l.behind.Load() {
		if err := l.store.Submit(rows); !errors.Is(err, store.ErrFull) {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.backlog = append(l.backlog, rows)
	_, err := l.drain()
	return err
}

// writeDurably queues rows, and returns when they survive a kill -9.
func (l *Ledger) writeDurably(ctx context.Context, rows *ledgerRows, timeout time.Duration) error {
	if l.behind.Load() {
		l.mu.Lock()
		empty, err := l.drain()
		l.mu.Unlock()
		if err != nil {
			return err
		}
		if !empty {
			return store.ErrFull
		}
	}
	return l.store.SubmitDurable(ctx, rows, cmp.Or(timeout, defaultTimeout))
}

// drain must be called with mu held.
func (l *Ledger) drain() (empty bool, err error) {
	for len(l.backlog) > 0 {
		err := l.store.Submit(l.backlog[0])
		if errors.Is(err, store.ErrFull) {
			break
		}
		if err != nil {
			return false, err
		}
		l.backlog = l.backlog[1:]
	}
	if len(l.backlog) >= coalesceFrom {
		l.backlog = []*ledgerRows{merge(l.backlog)}
	}
	l.behind.Store(len(l.backlog) > 0)
	return len(l.backlog) == 0, nil
}
