package limits

// EachQueue calls yield with each subject for which calls wait, and how many. Yield must return at
// once and must not use the limiter.
func (l *ConcurrencyLimiter) EachQueue(yield func(subject string, waiting int)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, p := range l.pools {
		if len(p.queue) > 0 {
			yield(name, len(p.queue))
		}
	}
}

// Queue returns the name of the subject in whose queue the permit waited first, "" if it had a slot
// at once.
func (p *Permit) Queue() string {
	if p == nil {
		return ""
	}
	return p.queue
}
