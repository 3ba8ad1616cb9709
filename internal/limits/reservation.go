package limits

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Reservation is what one call has reserved. It must be settled.
type Reservation struct {
	ledger Ledger
	call   string
	lock   chan struct{} // capacity 1: a mutex whose wait a context can end
	done   bool          // guarded by lock
}

// Reserve reserves at a ledger. If refusal and error are nil, the reservation must be settled.
// Otherwise nothing stays reserved, as far as the ledger can be reached. Without a budget the
// reservation is empty and the ledger is not called.
func Reserve(ctx context.Context, l Ledger, r ReserveRequest) (*Reservation, *Refusal, error) {
	reservation := &Reservation{ledger: l, call: r.Call, lock: make(chan struct{}, 1)}
	if !budgeted(r.Subjects) {
		reservation.done = true
		return reservation, nil, nil
	}
	refusal, err := l.Reserve(ctx, r)
	if err != nil {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
		defer cancel()
		if undoing := l.Settle(undo, r.Call, Amount{}); undoing != nil {
			err = errors.Join(err, fmt.Errorf("releasing what may have been reserved: %w", undoing))
		}
		return nil, nil, err
	}
	if refusal != nil {
		return nil, refusal, nil
	}
	return reservation, nil, nil
}

// undoTimeout bounds the time that a failed Reserve spends on releasing.
const undoTimeout = 5 * time.Second

func budgeted(subjects []Subject) bool {
	for i := range subjects {
		if len(subjects[i].Budgets) > 0 {
			return true
		}
	}
	return false
}

// Settle charges what the call used and gives the rest back. After the first success further calls
// have no effect; after an error it may be called again. A nil reservation has nothing to settle.
func (r *Reservation) Settle(ctx context.Context, used Amount) error {
	if r == nil {
		return nil
	}
	select {
	case r.lock <- struct{}{}:
	default: // another Settle is under way
		select {
		case r.lock <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() { <-r.lock }()
	if r.done {
		return nil
	}
	if err := r.ledger.Settle(ctx, r.call, used); err != nil {
		return fmt.Errorf("settling call %q: %w", r.call, err)
	}
	r.done = true
	return nil
}

// Unnamed returns the subjects that have spent something in a current period but are not in the
// configuration any more: removed, or renamed without their counts.
func Unnamed(ctx context.Context, l Ledger, at time.Time, named func(subject string) bool) ([]string, error) {
	all, err := l.Subjects(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("looking for subjects without a configuration: %w", err)
	}
	var unnamed []string
	for _, subject := range all {
		if !named(subject) {
			unnamed = append(unnamed, subject)
		}
	}
	return unnamed, nil
}
