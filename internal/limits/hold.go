package limits

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Hold is the reservation of one call, with an end.
type Hold struct {
	ledger Ledger
	call   string
	lock   chan struct{} // capacity 1; a mutex that a context can give up
	done   bool          // guarded by lock
}

// Reserve reserves at a ledger. A nil refusal and a nil error come with a hold that must be settled or released;
// otherwise nothing is left reserved, as far as the ledger can be reached. Without any budget the hold is empty and the
// ledger is not asked.
func Reserve(ctx context.Context, l Ledger, r Reservation) (*Hold, *Refusal, error) {
	h := &Hold{ledger: l, call: r.Call, lock: make(chan struct{}, 1)}
	if !budgeted(r.Subjects) {
		h.done = true
		return h, nil, nil
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
	return h, nil, nil
}

// undoTimeout bounds how long a failed Reserve tries to leave nothing behind.
const undoTimeout = 5 * time.Second

func budgeted(subjects []Subject) bool {
	for i := range subjects {
		if len(subjects[i].Budgets) > 0 {
			return true
		}
	}
	return false
}

// Settle charges what the call used and gives the rest back. After the first success later calls change nothing; after
// an error it may be called again. A nil hold has nothing to settle.
func (h *Hold) Settle(ctx context.Context, used Amount) error {
	if h == nil {
		return nil
	}
	select {
	case h.lock <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.lock }()
	if h.done {
		return nil
	}
	if err := h.ledger.Settle(ctx, h.call, used); err != nil {
		return fmt.Errorf("settling call %q: %w", h.call, err)
	}
	h.done = true
	return nil
}

// Unnamed are the subjects that have spent something in a period that is still running and that the configuration does
// not name any more: removed, or renamed and without their history.
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
