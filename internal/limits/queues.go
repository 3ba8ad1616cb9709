package limits

import "context"

// ConcurrencyUse is what a subject's limit of calls at once is used for.
type ConcurrencyUse struct {
	InUse   int // calls under way
	Waiting int // calls that wait in its queue
}

// Read returns the use of each subject, in their order. Slots that several gateways share are those
// of all of them.
func (l *ConcurrencyLimiter) Read(ctx context.Context, subjects []Subject) ([]ConcurrencyUse, error) {
	if l.shared != nil {
		return l.shared.InUse(ctx, subjects)
	}
	uses := make([]ConcurrencyUse, len(subjects))
	for i := range subjects {
		uses[i].InUse, uses[i].Waiting = l.InUse(subjects[i].Name)
	}
	return uses, nil
}

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
