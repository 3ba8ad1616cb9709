package limits

import "context"

// Pools is how many subjects a limiter remembers.
func Pools(l *ConcurrencyLimiter) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pools)
}

// InQueue reports whether a permit waits now.
func InQueue(p *Permit) bool {
	p.limiter.mu.Lock()
	defer p.limiter.mu.Unlock()
	return p.waitingAt != nil
}

// AcquireWait acquires and waits.
func (l *ConcurrencyLimiter) AcquireWait(ctx context.Context, subjects []Subject) (*Permit, *Busy, error) {
	p, busy := l.Acquire(subjects, nil)
	if busy != nil {
		return nil, busy, nil
	}
	if busy, err := p.Wait(ctx); busy != nil || err != nil {
		return nil, busy, err
	}
	return p, nil, nil
}
