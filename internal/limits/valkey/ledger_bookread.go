package valkey

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

const (
	// bookKept is how long ended periods stay in the book: thirteen months, for a comparison with the
	// last year.
	bookKept = 400 * limits.Day
	// crashKept is how long the book knows that it has a crash: whoever has to write it tries every
	// few seconds.
	crashKept = 30 * limits.Day
	// pruneInterval is the time between two deletions of old rows, pruneBatch how many go at once.
	pruneInterval, pruneBatch = time.Hour, 1000
)

// running calls f for each balance of a period that has not ended at that time.
func (b *book) running(ctx context.Context, at time.Time, f func(account string, begins, ends time.Time, spent int64) error) error {
	periods := make([]string, 0, 4)
	for p := limits.Daily; p <= limits.Total; p++ {
		begins, _ := p.Span(at)
		periods = append(periods, p.Name(begins))
	}
	// The first day of a month or week is older than the day: names of all are compared with the oldest.
	rows, err := b.db.Pool().Query(ctx, "SELECT subject, budget, period, spent FROM ledger WHERE period >= $1 ORDER BY period", slices.Min(periods))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var subject, name, period string
		var spent int64
		if err := rows.Scan(&subject, &name, &period, &spent); err != nil {
			return err
		}
		unit, kind, ok := limits.ParseBudgetName(name)
		if !ok {
			continue // of a newer program
		}
		begins, ends, err := kind.ParseName(period)
		if err != nil {
			return fmt.Errorf("budget %q of %q: %w", name, subject, err)
		}
		if !ends.IsZero() && !ends.After(at) {
			continue
		}
		if err := f(accountOf(subject, limits.Budget{Unit: unit, Period: kind}), begins, ends, spent); err != nil {
			return err
		}
	}
	return rows.Err()
}

// prune deletes old rows, now and then. Like that of a single gateway it keeps the newest period of each
// account.
func (b *book) prune(ctx context.Context, now time.Time) error {
	if b.db == nil {
		return nil
	}
	err := b.dropReceipts(ctx, now)
	if err != nil {
		return fmt.Errorf("deleting old receipts: %w", err)
	}
	if now.Sub(b.pruned) < pruneInterval {
		return nil
	}
	_, err = b.db.Pool().Exec(ctx, `DELETE FROM ledger WHERE (subject, budget, period) IN (
		SELECT subject, budget, period FROM ledger AS old WHERE period < $1 AND EXISTS (
			SELECT 1 FROM ledger WHERE subject = old.subject AND budget = old.budget AND period > old.period
		) ORDER BY subject, budget, period LIMIT $2 FOR UPDATE SKIP LOCKED)`, now.Add(-bookKept).UTC().Format(time.DateOnly), pruneBatch)
	if err == nil {
		_, err = b.db.Pool().Exec(ctx, `DELETE FROM ledger_crash WHERE call IN (
			SELECT call FROM ledger_crash WHERE at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`, now.Add(-crashKept), pruneBatch)
	}
	if err != nil {
		return fmt.Errorf("deleting old periods: %w", err)
	}
	b.pruned = now
	return nil
}
