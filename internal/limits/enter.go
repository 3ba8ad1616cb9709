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

// mostAsks bounds how often a call states what it wants. An answer is void if slots were given back
// after the statement.
const mostAsks = 3

func (l *ConcurrencyLimiter) enterShared(ctx context.Context, rates Rates, subjects []Subject, held *Permit) (e Entry, err error) {
	p := l.permit(subjects)
	if p == nil {
		e.Reading, e.Over, err = rates.Request(ctx, subjects)
		return e, err
	}
	defer l.mu.Unlock()
	p.coming(1)
	for asked := 0; ; asked++ {
		var buffer [MaxSubjects]Want
		wants := p.wants(buffer[:0])
		if asked > 0 && (len(wants) == 0 || asked == mostAsks) {
			break
		}
		l.mu.Unlock()
		var shares []Share
		var reading Reading
		if len(wants) == 0 {
			reading, e.Over, err = rates.Request(ctx, subjects)
		} else {
			reading, e.Over, shares, err = l.shared.places.Enter(ctx, subjects, wants)
		}
		l.mu.Lock()
		if asked == 0 {
			e.Reading = reading
		}
		void := l.learn(shares)
		if e.Over != nil || err != nil || len(wants) == 0 {
			break
		}
		subjects = nil // they are counted
		if !void {
			break
		}
	}
	p.coming(-1)
	if e.Over != nil || err != nil {
		l.unref(p)
		return e, err
	}
	e.Permit, e.Busy = l.place(p, held)
	return e, nil
}

// coming notes that the call will take its slots soon, or no longer.
func (p *Permit) coming(n int) {
	for _, s := range p.slots {
		share := s.pool.share
		share.coming += n
		share.peak = max(share.peak, s.pool.demand())
	}
}

// wants states again each subject of which the call needs a slot that this gateway does not have.
func (p *Permit) wants(wants []Want) []Want {
	for _, s := range p.slots {
		q := s.pool
		if q.share.of.alone > 0 || q.demand() <= q.share.slots || q.share.slots >= q.limit {
			continue
		}
		patient := 0
		if len(q.queue) < s.limit.Queue {
			patient = 1
		}
		wants = append(wants, q.statement(patient))
	}
	return wants
}
