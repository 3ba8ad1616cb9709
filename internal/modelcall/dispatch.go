package modelcall

import (
	"context"
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
)

// attempts are the requests of a call to its targets, in turn until one begins to answer:
//
//	advance --> begin --> deliver --> answered
//	   ^                     |
//	   +------- fail <-------+ nothing has reached the client
type attempts struct {
	call   *call
	queue  []*target // not asked yet
	next   *target   // encoded as sending; nil for none
	sent   *sending
	trial  failover.Trial
	last   *target // that was asked last
	same   bool    // last was asked a second time
	made   int
	bytes  int64         // of the request
	buffer *sharedBuffer // of the request, if several attempts may send it
	began  time.Time
	failed *apierror.Error // what the caller gets if no other target answers
}

// delivery is what came of an attempt.
type delivery struct {
	failure *apierror.Error // nil: the client has got the answer
	// end gives the client the failure with which the call ends; nothing was written yet, and another
	// target can be asked instead. Nil: the client has got all that it will get.
	end func(*apierror.Error) error
}

// failed is an attempt that failed before anything was written.
func failed(failure *apierror.Error) delivery {
	return delivery{failure: failure, end: func(told *apierror.Error) error { return told }}
}

// dispatch asks the targets in turn until one answers. With an error nothing was written.
func (c *call) dispatch(ctx context.Context) error {
	a := c.newAttempts()
	if !a.advance(ctx) {
		return a.failed // 400: the request is possible at no target
	}
	var w *eventWriter
	defer func() { a.trial.End(failover.Result{Class: failover.Neutral}) }() // after a panic; else it has ended
	if a.sent.stream {
		requests, tokens := c.admission.current() // now: a heartbeat can begin the answer between two attempts
		w = newEventWriter(c.w, &c.deps.Timeouts, c.deps.Now, c.op.heartbeat(c.r.Header), func(h http.Header) { c.setRates(h, requests, tokens) })
		defer w.stop()
	}
	for {
		s := a.begin()
		var d delivery
		if w != nil {
			d = c.deliverStream(ctx, a, s, w)
		} else {
			d = c.deliverWhole(ctx, a, s)
		}
		switch {
		case d.failure == nil:
			return nil
		case a.retry(ctx, d):
			continue
		case d.end == nil:
			return nil
		}
		return d.end(a.failed)
	}
}

func (c *call) newAttempts() *attempts {
	c.attempts = attempts{call: c, queue: order(c), began: c.deps.Now(), bytes: int64(c.Upload.Len())}
	if !c.attempts.lone() {
		c.attempts.buffer = new(sharedBuffer)
	}
	return &c.attempts
}

// order returns the targets of a call in the order in which it asks them. The one that can read the
// newest reasoning in the request comes first, as a group of its own.
func order(c *call) []*target {
	if len(c.targets) == 1 || c.deps.Health == nil {
		return c.targets
	}
	last := 0
	for _, t := range c.targets {
		last = max(last, t.group)
	}
	groups := make([][]failover.Candidate, last+2)
	byGroup := make([][]*target, len(groups))
	for _, t := range c.targets {
		g := t.group + 1
		if t.id == c.sealed.newest {
			g = 0
		}
		groups[g] = append(groups[g], failover.Candidate{ID: t.id, Weight: t.weight})
		byGroup[g] = append(byGroup[g], t)
	}
	ordered := make([]*target, 0, len(c.targets))
	picks := c.deps.Health.Order(nil, groups, session(c))
	for i, pick := range picks {
		t := byGroup[pick.Group][pick.Index]
		ordered = append(ordered, t)
		picks[i] = failover.Pick{Group: t.group, Index: i}
	}
	if c.limit == nil {
		return ordered
	}
	allowed := make([]*target, 0, len(ordered))
	for _, pick := range c.limit(picks) {
		allowed = append(allowed, ordered[pick.Index])
	}
	return allowed
}

// open reports whether another attempt can follow the present one.
func (a *attempts) open() bool {
	return a.made < failover.MaxAttempts && (len(a.queue) > 0 || !a.lone() && !a.same)
}

// lone reports whether the call had one target from the start. Its client repeats what failed.
func (a *attempts) lone() bool {
	c := a.call
	return len(c.targets) == 1 && !c.targets[0].alias && !c.listed
}

// advance prepares the next target that can be sent the request. Without one it reports false, and
// failed has a reason.
func (a *attempts) advance(ctx context.Context) bool {
	for len(a.queue) > 0 {
		t := a.queue[0]
		a.queue = a.queue[1:]
		err := a.prepare(ctx, t)
		if err == nil {
			return true
		}
		if a.failed == nil {
			a.failed = apierror.From(err)
		}
	}
	return false
}

// prepare writes the request of the next attempt, and counts it against the limits of its target.
func (a *attempts) prepare(ctx context.Context, t *target) error {
	sent, err := a.call.encode(t)
	if err != nil {
		return err
	}
	if err := a.call.admission.enterTarget(ctx, t.own, t.use.likely.Tokens); err != nil {
		return err
	}
	a.sent, a.next = sent, t
	return nil
}

// begin notes that the prepared attempt begins, and returns what is sent.
func (a *attempts) begin() *sending {
	c := a.call
	a.last, a.next = a.next, nil
	a.made++
	c.setTarget(a.last)
	c.tried.begin(a.last)
	c.meter, c.dropped, c.leftOut = meter{requestBytes: a.bytes}, a.sent.droppedTools, a.sent.leftOut
	r := c.Record
	r.OutputCap, r.FirstToken = c.charge.outputCap(a.last), 0
	r.UpstreamID, r.FinishReason, r.NativeFinishReason = "", "", ""
	c.upstream.close()
	c.upstream = &upstream{
		deps: c.deps, request: c.Request, meter: &c.meter, target: a.last, waits: c.deps.Timeouts.of(a.last, len(a.queue) > 0), buffer: a.buffer,
	}
	if a.lone() {
		c.body.Release()
	}
	if c.deps.Health != nil {
		a.trial = c.deps.Health.Begin(a.last.id, len(c.targets) == 1)
	}
	return a.sent
}

// commit notes that the present attempt answers: no other follows, and nothing of the request need be
// kept for as long as the answer may last.
func (a *attempts) commit() {
	a.trial.FirstContent()
	a.call.upstream.commit()
	a.call.body.Release()
}

// succeeded notes that the attempt gave an answer.
func (a *attempts) succeeded() {
	a.trial.End(failover.Result{Class: failover.Success})
	a.note(nil)
}

// retry notes how an attempt failed, and reports whether another one is prepared.
func (a *attempts) retry(ctx context.Context, d delivery) bool {
	c := a.call
	decision := failover.Decide(d.failure, c.upstream.status)
	a.trial.End(decision.Result())
	a.note(d.failure)
	if a.made == 1 || !isLasting(d.failure) {
		a.failed = told(a.failed, d.failure)
	}
	if d.end == nil || ctx.Err() != nil || a.made >= failover.MaxAttempts || c.deps.Now().Sub(a.began) > lastBegin {
		return false
	}
	if (decision.Next || decision.NextListed && c.listed) && a.advance(ctx) {
		return true
	}
	return a.again(ctx, decision)
}

const (
	// lastBegin is how long after the first attempt the last one may begin: the SDKs wait 600 s.
	lastBegin = 10 * time.Minute
	// retryPause is between two requests to the same target.
	retryPause = 500 * time.Millisecond
	// longestPause is how long a call waits for a target that limits its rate, if it is the last.
	longestPause = 5 * time.Second
)

// again prepares a second request to the last target, if the failure is one that passes quickly.
func (a *attempts) again(ctx context.Context, d failover.Decision) bool {
	if a.lone() || a.same || !d.RetrySame && !d.RetryLast || d.Wait > longestPause {
		return false
	}
	if !a.waitFor(ctx, max(d.Wait, retryPause)) || a.prepare(ctx, a.last) != nil {
		return false
	}
	a.same = true
	return true
}

// pause waits. It reports false, and failed has the reason, if the client leaves or the gateway shuts
// down meanwhile.
func (a *attempts) pause(client context.Context, d time.Duration) bool {
	ctx, cancel := context.WithCancelCause(client)
	defer cancel(nil)
	a.call.entry.SetCancel(cancel)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	}
	if err := client.Err(); err != nil {
		a.failed = clientGone(err)
	} else {
		a.failed = shuttingDown(context.Cause(ctx))
	}
	return false
}

// isLasting reports whether only an operator can mend the failure. The caller gets such a failure only
// if no attempt had another one.
func isLasting(e *apierror.Error) bool {
	return failover.Decide(e, 0).Class == failover.Lasting
}

// told returns which of two failures the caller gets: the later one or, of two rate limits, the one
// with the shorter pause.
func told(before, now *apierror.Error) *apierror.Error {
	if before != nil && before.Code == apierror.UpstreamRateLimited && now.Code == before.Code {
		if before.RetryAfter > 0 && (now.RetryAfter == 0 || before.RetryAfter < now.RetryAfter) {
			return before
		}
	}
	return now
}

// note counts the last attempt, if it was sent. It is in the record of a call that may need several,
// or that met a time limit.
func (a *attempts) note(failure *apierror.Error) {
	c := a.call
	c.tried.end(c.upstream.status)
	if c.meter.sent.IsZero() {
		return
	}
	done, limit := activity.Attempt{Target: a.last.id, Status: c.upstream.status, Latency: c.deps.Now().Sub(c.meter.sent)}, ""
	if failure != nil {
		done.Code, limit = string(failure.Code), failure.Limit
	}
	if limit != "" {
		done.Code = "timeout_" + limit
	}
	c.trace.endAttempt(done.Status, done.Code)
	c.deps.Metrics.Attempted(metricOf(&done, a.last, failure))
	if !a.lone() || limit != "" {
		c.Record.Attempted = append(c.Record.Attempted, done)
	}
}
