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
// Acquire does. If several gateways share both, that is one message. The error is that of
// Rates.Request.
func (l *ConcurrencyLimiter) Enter(ctx context.Context, rates Rates, subjects []Subject, held *Permit) (Entry, error) {
	if l.shared != nil {
		return l.enterShared(ctx, rates, subjects, held)
	}
	reading, over, err := rates.Request(ctx, subjects)
	if over != nil || err != nil {
		return Entry{Reading: reading, Over: over}, err
	}
	permit, busy := l.Acquire(subjects, held)
	return Entry{Reading: reading, Permit: permit, Busy: busy}, nil
}

func (l *ConcurrencyLimiter) enterShared(ctx context.Context, rates Rates, subjects []Subject, held *Permit) (e Entry, err error) {
	p := l.permit(subjects)
	if p == nil {
		e.Reading, e.Over, err = rates.Request(ctx, subjects)
		return e, err
	}
	defer l.mu.Unlock()
	p.expect(1)
	l.mu.Unlock()
	e.Reading, e.Over, err = l.shared.Enter(ctx, subjects)
	l.mu.Lock()
	p.expect(-1)
	if e.Over != nil || err != nil {
		l.unref(p)
		return e, err
	}
	e.Permit, e.Busy = l.place(p, held)
	return e, nil
}

func (p *Permit) expect(calls int) {
	for _, q := range p.pools {
		q.share.Expect(calls)
	}
}
