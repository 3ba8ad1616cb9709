package limits

import "context"

// Entry is what Enter did for a call. The call is refused if Over or Busy is set.
type Entry struct {
	Reading Reading      // the request rate with the least remaining
	Permit  *Permit      // as that of Acquire
	Over    *RateRefusal // a rate is used up; nothing was counted
	Busy    *Busy        // a subject and its queue are full; the request was counted
}

// Enter counts one request against the rates of the subjects, and then acquires their slots as
// Acquire does. The error is that of Rates.Request.
func (l *ConcurrencyLimiter) Enter(ctx context.Context, rates Rates, subjects []Subject, held *Permit) (Entry, error) {
	reading, over, err := rates.Request(ctx, subjects)
	if over != nil || err != nil {
		return Entry{Reading: reading, Over: over}, err
	}
	permit, busy := l.Acquire(subjects, held)
	return Entry{Reading: reading, Permit: permit, Busy: busy}, nil
}
