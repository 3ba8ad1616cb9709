package valkey

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

const (
	// flushTimeout bounds how long a reader waits for the settlements of this node.
	flushTimeout = time.Second
	// subjectsPage is how many accounts are read at once.
	subjectsPage = 10_000
	// maxAccounts bounds the accounts that Subjects reads.
	maxAccounts = 1 << 20
)

// linesAt returns the accounts of subjects at a time.
func linesAt(at time.Time, subjects []limits.Subject) []line {
	return linesOf(&limits.ReserveRequest{At: at, Subjects: subjects})
}

// Exhausted implements limits.Ledger.
func (l *Ledger) Exhausted(ctx context.Context, at time.Time, subjects []limits.Subject) (*limits.Refusal, error) {
	if err := limits.CheckSubjects(at, subjects); err != nil {
		return nil, err
	}
	at = l.at(at)
	all, certain := linesAt(at, subjects), true
	all = slices.DeleteFunc(all, func(l line) bool { return l.budget.Limit == limits.NoLimit })
	var spent *limits.Refusal
	for i := range all {
		one := &all[i]
		known, recent := l.view.find(one.account, seconds(one.begins))
		if known.spent >= one.budget.Limit {
			spent = one.balance(told{known.begins, known.spent, known.reserved}).Refuse(0, at)
			if recent {
				return spent, nil
			}
		}
		certain = certain && recent && known.spent+known.pending < one.budget.Limit
	}
	if certain {
		return nil, nil
	}
	if !l.node.Engine().Stats().Up {
		return spent, nil
	}
	balances, err := l.balances(ctx, all, l.likely)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		return spent, nil //nolint:nilerr // what was spent stays spent until the period ends; else Reserve judges
	}
	for _, b := range balances {
		if b.Spent >= b.Budget.Limit {
			return b.Refuse(0, at), nil
		}
	}
	return nil, nil
}

// Status implements limits.Ledger.
func (l *Ledger) Status(ctx context.Context, at time.Time, subjects []limits.Subject) ([]limits.Balance, error) {
	if err := limits.CheckSubjects(at, subjects); err != nil {
		return nil, err
	}
	return l.balances(ctx, linesAt(l.at(at), subjects), flushTimeout)
}

// balances asks the engine, when it has the settlements of this node.
func (l *Ledger) balances(ctx context.Context, all []line, within time.Duration) ([]limits.Balance, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := l.outbox.flush(ctx); err != nil {
		return nil, fmt.Errorf("%w: settlements wait: %w", limits.ErrUnavailable, err)
	}
	accounts := make([]string, len(all))
	for i := range all {
		accounts[i] = all[i].account
	}
	found, err := l.engine.look(ctx, accounts, l.view)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", limits.ErrUnavailable, err)
	}
	balances := make([]limits.Balance, len(all))
	for i := range all {
		balances[i] = all[i].balance(found[i])
	}
	return balances, nil
}

// Subjects implements limits.Ledger. The engine keeps a list of the accounts of which something was
// spent; those of periods that ended 40 days ago leave it.
func (l *Ledger) Subjects(ctx context.Context, at time.Time) ([]string, error) {
	if err := limits.CheckSubjects(at, nil); err != nil {
		return nil, err
	}
	at = l.at(at)
	flush, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := l.outbox.flush(flush); err != nil {
		return nil, fmt.Errorf("%w: settlements wait: %w", limits.ErrUnavailable, err)
	}
	var names []string
	for from := 0; from < maxAccounts; from += subjectsPage {
		reply, err := l.node.Engine().Do(ctx, "ZRANGEBYSCORE", l.node.Key("s"), "("+number(at.Unix()), "+inf",
			"LIMIT", strconv.Itoa(from), strconv.Itoa(subjectsPage))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", limits.ErrUnavailable, err)
		}
		accounts, err := reply.AsStrSlice()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", limits.ErrUnavailable, err)
		}
		for _, account := range accounts {
			if subject, _, ok := parseAccount(account); ok {
				names = append(names, subject)
			}
		}
		if len(accounts) < subjectsPage {
			break
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
