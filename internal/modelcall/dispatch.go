package modelcall

import (
	"context"
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/tracing"
)

// delivery is what came of an attempt.
type delivery struct {
	failure *apierror.Error // nil: the client has got the answer
	// end gives the client the failure with which the call ends; nothing was written yet, and another
	// target can be asked instead. Nil: the client has got all that it will get.
	end func(*apierror.Error) error
	// cut says that the client has got a part of an answer which cannot say so: its connection breaks.
	cut bool
}

// failed is an attempt that failed before anything was written.
func failed(failure *apierror.Error) delivery {
	return delivery{failure: failure, end: func(told *apierror.Error) error { return told }}
}

// dispatch asks the targets in turn until one answers:
//
//	advance --> begin --> deliver --> answered
//	   ^                     |
//	   +------- retry <------+ nothing has reached the client
//
// With an error nothing was written.
func (c *call) dispatch(ctx context.Context) error {
	a := attempts{queue: c.order(), alone: c.alone(), listed: c.to.listed, began: c.deps.Now(), bytes: int64(len(c.body.Data()))}
	s := c.advance(ctx, &a)
	if s == nil {
		return a.failed // 400: the request is possible at no target
	}
	var w *eventWriter
	if s.Stream && !s.Wire.Typed() {
		w = c.newEventWriter()
		defer w.stop()
	}
	buffer := c.buffer(&a)
	defer func() { c.attempt.trial.End(failover.Result{Class: failover.Neutral}) }() // after a panic; else it has ended
	for {
		c.begin(&a, s, buffer)
		var d delivery
		if c.op.Dial != nil {
			d = connect(ctx, c, s)
		} else if s.Wire.Typed() {
			d = (&typed{c.attempt, &c.guard, ratesOf(c), c.newEventWriter, c.asked.Choices, a.open()}).deliver(ctx, s)
		} else if w != nil {
			d = deliverStream(ctx, c.attempt, &c.guard, w, s, c.asked.Choices, a.open())
		} else {
			d = deliverWhole(ctx, c.attempt, &c.guard, ratesOf(c), s)
		}
		if d.failure == nil {
			return nil
		}
		if s = c.retry(ctx, &a, d); s != nil {
			continue
		}
		if d.cut {
			panic(http.ErrAbortHandler)
		}
		if d.end == nil {
			return nil
		}
		return d.end(a.failed)
	}
}

// alone reports whether the call had one target from the start. Its client repeats what failed.
func (c *call) alone() bool {
	return len(c.to.targets) == 1 && !c.to.targets[0].alias && !c.to.listed
}

// buffer returns the buffer of a request that several attempts may send, nil for one that is sent once.
func (c *call) buffer(a *attempts) *sharedBuffer {
	if a.alone {
		return nil
	}
	return new(sharedBuffer)
}

func (c *call) newEventWriter() *eventWriter {
	rates := ratesOf(c) // now: a heartbeat can begin the answer between two attempts
	var beats wire.Heartbeat
	if c.op.Heartbeat != nil {
		beats = c.op.Heartbeat(c.req.HTTP.Header)
	}
	return newEventWriter(c.req.Writer, &c.deps.Timeouts, c.deps.Now, beats, rates.set)
}

// order returns the targets of a call in the order in which it asks them. The one that can read the
// newest reasoning in the request comes first, as a group of its own.
func (c *call) order() []*target {
	all := c.to.targets
	if len(all) == 1 || c.deps.Health == nil {
		return all
	}
	last := 0
	for _, t := range all {
		last = max(last, t.group)
	}
	groups := make([][]failover.Candidate, last+2)
	byGroup := make([][]*target, len(groups))
	for _, t := range all {
		g := t.group + 1
		if t.id == c.sealed.newest {
			g = 0
		}
		groups[g] = append(groups[g], failover.Candidate{ID: t.id, Weight: t.weight})
		byGroup[g] = append(byGroup[g], t)
	}
	ordered := make([]*target, 0, len(all))
	picks := c.deps.Health.Order(nil, groups, session(c))
	for i, pick := range picks {
		t := byGroup[pick.Group][pick.Index]
		t.rank = pick.Rank
		ordered = append(ordered, t)
		picks[i] = failover.Pick{Group: t.group, Index: i, Rank: pick.Rank}
	}
	if c.to.limit == nil {
		return ordered
	}
	picked := func(picks []failover.Pick) []*target {
		targets := make([]*target, 0, len(picks))
		for _, pick := range picks {
			targets = append(targets, ordered[pick.Index])
		}
		return targets
	}
	allowed, passed, barred := c.to.limit(picks)
	c.to.skipAll(picked(passed), apierror.Cooling)
	c.to.barred = picked(barred)
	return picked(allowed)
}

// advance prepares the next target that can be sent the request. Without one it returns nil, and the
// attempts have a reason.
func (c *call) advance(ctx context.Context, a *attempts) *wire.Sending {
	for t := a.take(); t != nil; t = a.take() {
		s, err := c.prepare(ctx, t)
		if err == nil {
			return s
		}
		a.refused(apierror.From(err))
		c.to.refused(t.id, err)
	}
	return nil
}

// prepare writes the request of the next attempt, and counts it against the limits of its target.
func (c *call) prepare(ctx context.Context, t *target) (*wire.Sending, error) {
	s, err := c.encode(t)
	if err != nil {
		return nil, err
	}
	return s, c.permits.EnterTarget(ctx, subjectsOf(t.own), t.allowed.use.likely.Tokens)
}

// begin begins the prepared attempt.
func (c *call) begin(a *attempts, s *wire.Sending, buffer *sharedBuffer) {
	t, out := a.begin(), &c.req.Outcome
	c.setTarget(t)
	c.to.asks(t, a.queue)
	out.Dropped, out.LeftOut = s.DroppedTools, s.LeftOut
	noteAsked(c, t)
	r := out.Record
	r.OutputCap, r.FirstToken = c.charge.outputCap(t), 0
	r.UpstreamID, r.FinishReason, r.NativeFinishReason = "", "", ""
	if c.attempt != nil {
		c.attempt.upstream.close()
	}
	c.attempt = &attempt{
		alone: a.alone, body: &c.body, tried: c.tried,
		upstream: upstream{
			deps: c.deps, request: c.req, trace: c.trace, target: t, waits: c.deps.Timeouts.of(t, len(a.queue) > 0), buffer: buffer,
			meter: meter{requestBytes: a.bytes},
		},
	}
	c.tried.begin(t, &c.attempt.upstream.status)
	if a.alone {
		c.body.Release()
	}
	if c.deps.Health != nil {
		c.attempt.trial = c.deps.Health.Begin(t.id, len(c.to.targets) == 1)
	}
}

// noteAsked notes which provider is asked, for metrics.
func noteAsked(c *call, t *target) {
	if c.op.Span != "" {
		host, _ := t.endpoint.Address()
		c.req.Outcome.Asked(c.op.Span, tracing.ProviderName(host, t.provider.Name), c.deps.Now())
	}
}

// retry notes how the attempt failed, and prepares another one. It returns nil if none follows.
func (c *call) retry(ctx context.Context, a *attempts, d delivery) *wire.Sending {
	decision := failover.Decide(d.failure, c.attempt.upstream.status)
	c.attempt.end(decision.Result(), d.failure)
	a.failedWith(d.failure)
	if d.end == nil || ctx.Err() != nil {
		return nil
	}
	if a.over(c.deps.Now()) {
		c.to.skipAll(a.queue, apierror.NoMoreAttempts)
		return nil
	}
	if a.mayTakeNext(decision) {
		if s := c.advance(ctx, a); s != nil {
			return s
		}
		c.to.skipAll(c.to.barred, apierror.NoFallbacks)
	}
	if !a.mayRepeat(decision) || !c.pause(ctx, a, max(decision.Wait, retryPause)) {
		return nil
	}
	s, err := c.prepare(ctx, a.last)
	if err != nil {
		return nil
	}
	a.repeat()
	return s
}

// pause waits between two attempts. It reports false, and the attempts have the reason, if the client
// leaves or the gateway shuts down meanwhile.
func (c *call) pause(client context.Context, a *attempts, d time.Duration) bool {
	began := c.deps.Now()
	defer func() { c.req.Outcome.Phases.Provider += c.deps.Now().Sub(began) }()
	ctx, cancel := context.WithCancelCause(client)
	defer cancel(nil)
	c.req.SetCancel(cancel)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	}
	if err := client.Err(); err != nil {
		a.failed = request.ClientGone(err)
	} else {
		a.failed = request.ShuttingDown(context.Cause(ctx))
	}
	return false
}
