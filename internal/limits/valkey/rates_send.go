package valkey

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
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
	lost    int // those for which there was no room
}

// add adds a call's corrections. It reports whether the first one was lost since forget.
func (o *corrections) add(corrections []correction, delta int64) (loses bool) {
	for i := range corrections {
		corrections[i].delta = delta
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.lost
	o.lost += o.keep(corrections)
	return before == 0 && o.lost > 0
}

// put puts back what was taken and not sent.
func (o *corrections) put(corrections []correction) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lost += o.keep(corrections)
}

// keep returns how many it had no room for. It must be called with mu held.
func (o *corrections) keep(corrections []correction) (lost int) {
	n := min(len(corrections), maxCorrections-len(o.waiting))
	o.waiting = append(o.waiting, corrections[:n]...)
	return len(corrections) - n
}

// forget returns how many were lost, and begins to count at zero.
func (o *corrections) forget() (lost int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	lost, o.lost = o.lost, 0
	return lost
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

// correctLater adds corrections and asks for them to be sent.
func (a *Rates) correctLater(corrections []correction, delta int64) {
	if a.corrections.add(corrections, delta) {
		a.breaker.logger.Warn("too many corrections of token rates wait for the engine of the cluster: calls now count what was estimated",
			zap.Int("waiting", maxCorrections))
	}
	a.wake()
}

// wake asks for what waits to be sent. It does not wait.
func (a *Rates) wake() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// send sends what no call waits for, until ctx ends.
func (a *Rates) send(ctx context.Context) {
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
			alone := a.breaker.open.Load()
			if n := a.node.Count(); n != nodes {
				nodes = n
				a.slots.setNodes(n, !alone)
			}
			if alone {
				a.again(ctx)
				break
			}
			a.slots.recheck("")
		}
		if a.flush(ctx) != nil { // the breaker logs it
			changed = nil // until the next tick
		}
	}
}

// again asks an engine that did not answer whether it does, once in a while.
func (a *Rates) again(ctx context.Context) {
	if !a.breaker.due(time.Now()) {
		return
	}
	if _, err := a.node.Run(ctx, a.scripts.look, "0"); err == nil {
		a.breaker.close(a.corrections.forget())
		a.slots.setNodes(a.node.Count(), true)
	}
}

// flush sends the corrections and the statements that wait.
func (a *Rates) flush(ctx context.Context) error {
	for !a.breaker.open.Load() && ctx.Err() == nil {
		corrections := a.corrections.take()
		if len(corrections) > 0 {
			if err := a.correct(ctx, corrections); err != nil {
				return err
			}
		}
		wants := a.slots.changes(batch)
		if len(wants) > 0 {
			shares, err := a.state(ctx, wants)
			a.slots.learn(shares)
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

// correct sends corrections. They are sent again only if they have surely not counted.
func (a *Rates) correct(ctx context.Context, corrections []correction) error {
	args := make([]string, 0, 4*len(corrections))
	for _, c := range corrections {
		args = append(args, c.window, c.seconds, strconv.FormatInt(c.slot, 10), number(bounded(c.delta)))
	}
	_, err := a.node.Run(ctx, a.scripts.correct, args...)
	if errors.Is(err, valkey.ErrNotDone) {
		a.corrections.put(corrections)
	}
	return err
}

// state sends statements.
func (a *Rates) state(ctx context.Context, wants []want) ([]granted, error) {
	answer, ok := a.admit(ctx, 0, nil, wants)
	if !ok {
		return a.guess(wants), errNotStated
	}
	return answer.shares, nil
}

// reap frees the places of a dead node.
func (a *Rates) reap(ctx context.Context, dead string) error {
	for {
		reply, err := a.node.Run(ctx, a.scripts.reap, dead, strconv.Itoa(batch))
		if err != nil {
			return err
		}
		if left, err := reply.AsInt64(); err != nil || left == 0 {
			return err
		}
	}
}

var _ limits.Rates = (*Rates)(nil)
var _ limits.SharedSlots = (*Rates)(nil)
