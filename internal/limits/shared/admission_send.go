package shared

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// maxCorrections bounds the corrections that wait while the engine does not answer. Those beyond it
// are lost: a rate of tokens then counts what was estimated.
const maxCorrections = 16_384

// correction is the difference between what a call has counted and what it used.
type correction struct {
	window, seconds string
	slot, delta     int64
}

// corrections wait until they are sent, once.
type corrections struct {
	mu      sync.Mutex
	waiting []correction
}

func (o *corrections) add(corrections []correction, delta int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range corrections {
		if len(o.waiting) < maxCorrections {
			c.delta = delta
			o.waiting = append(o.waiting, c)
		}
	}
}

// take returns the oldest corrections.
func (o *corrections) take() []correction {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := min(len(o.waiting), batch)
	taken := o.waiting[:n:n]
	if o.waiting = o.waiting[n:]; len(o.waiting) == 0 {
		o.waiting = nil
	}
	return taken
}

// Restate implements limits.Places.
func (a *Admission) Restate() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// send sends what no call waits for, until ctx ends.
func (a *Admission) send(ctx context.Context) {
	defer a.ended.Done()
	ticks := time.NewTicker(askInterval)
	defer ticks.Stop()
	nodes, changed := 1, a.changed
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-ticks.C:
			changed = a.changed
			if a.breaker.open.Load() {
				a.again(ctx)
				break
			}
			if n := len(a.node.Nodes()); n != nodes {
				nodes = n
				a.limiter.Nodes(n, true)
			}
			a.limiter.Recheck("")
		}
		if a.flush(ctx) != nil { // the breaker logs it
			changed = nil // until the next tick
		}
	}
}

// again asks an engine that did not answer whether it does, once in a while.
func (a *Admission) again(ctx context.Context) {
	if !a.breaker.due(time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	if _, err := a.node.Run(ctx, readScript, "0"); err == nil {
		a.breaker.close()
		a.limiter.Nodes(len(a.node.Nodes()), true)
	}
}

// flush sends the corrections and the statements that wait.
func (a *Admission) flush(ctx context.Context) error {
	for !a.breaker.open.Load() && ctx.Err() == nil {
		corrections := a.corrections.take()
		if len(corrections) > 0 {
			if err := a.correct(ctx, corrections); err != nil {
				return err
			}
		}
		wants := a.limiter.Statements(batch)
		if len(wants) > 0 {
			shares, err := a.state(ctx, wants)
			a.limiter.Learn(shares)
			if err != nil {
				return err
			}
		}
		if len(corrections) == 0 && len(wants) == 0 {
			break
		}
	}
	return ctx.Err()
}

// correct sends corrections. They are not sent again after an error: they may have counted.
func (a *Admission) correct(ctx context.Context, corrections []correction) error {
	args := make([]string, 0, 4*len(corrections))
	for _, c := range corrections {
		args = append(args, c.window, c.seconds, strconv.FormatInt(c.slot, 10), bounded(c.delta))
	}
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	_, err := a.node.Run(ctx, correctScript, args...)
	return err
}

// state sends statements.
func (a *Admission) state(ctx context.Context, wants []limits.Want) ([]limits.Share, error) {
	answer, ok := a.admit(ctx, 0, nil, wants)
	if !ok {
		return a.guess(wants), errNotStated
	}
	return answer.shares(0, wants), nil
}

// reap frees the places of a dead node.
func (a *Admission) reap(ctx context.Context, dead string) error {
	for {
		reply, err := a.node.Run(ctx, freeScript, dead, strconv.Itoa(batch))
		if err != nil {
			return err
		}
		if left, err := reply.AsInt64(); err != nil || left == 0 {
			return err
		}
	}
}

var _ limits.Rates = (*Admission)(nil)
var _ limits.Places = (*Admission)(nil)
