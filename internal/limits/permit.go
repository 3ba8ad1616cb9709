package limits

import (
	"context"
	"time"
)

// Permit holds a call's slots, one for each of its subjects, or waits for them in a queue.
type Permit struct {
	limiter   *ConcurrencyLimiter
	pools     []*pool // of its subjects
	held      bool
	waitingAt *pool // the queue it waits in; nil if it does not wait

	// The following are set only if the permit had to wait.
	arrival  uint64
	queue    string        // the subject in whose queue it waited first
	deadline time.Time     // when its wait ends
	decided  chan struct{} // closed when it no longer waits
	refusal  *Busy         // why it was refused
}

// Waiting reports whether the permit had to queue, so that Wait may take a while.
func (p *Permit) Waiting() bool { return p != nil && p.decided != nil }

// TimeLeft is how long a queued permit may still wait. The limit is the shortest queue timeout
// among the full subjects.
func (p *Permit) TimeLeft() time.Duration { return time.Until(p.deadline) }

// Wait returns when the permit has its slots. It returns Busy after the queue timeout, and ctx's
// error if ctx ended first; the permit then holds nothing.
func (p *Permit) Wait(ctx context.Context) (*Busy, error) {
	if !p.Waiting() {
		return nil, nil
	}
	timeout := time.NewTimer(p.TimeLeft())
	defer timeout.Stop()
	select {
	case <-p.decided:
	case <-timeout.C:
		p.TimeOut()
	case <-ctx.Done():
		p.Release()
		if p.refusal == nil {
			return nil, ctx.Err()
		}
	}
	return p.refusal, nil
}

// TimeOut refuses a permit that still waits, and reports whether it did.
func (p *Permit) TimeOut() bool {
	p.limiter.mu.Lock()
	defer p.limiter.mu.Unlock()
	if p.waitingAt == nil {
		return false
	}
	p.refusal = p.waitingAt.busy()
	p.release()
	close(p.decided)
	return true
}

// Refused returns why a queued permit was refused, nil if it was not.
func (p *Permit) Refused() *Busy {
	p.limiter.mu.Lock()
	defer p.limiter.mu.Unlock()
	return p.refusal
}

// Release returns the slots or leaves the queue. Only the first call has an effect. A nil permit
// holds nothing.
func (p *Permit) Release() {
	if p == nil {
		return
	}
	p.limiter.mu.Lock()
	defer p.limiter.mu.Unlock()
	p.release()
}
