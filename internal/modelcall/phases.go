package modelcall

import (
	"context"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
)

// phases are the parts of a request's time in which the gateway waited for others. What is left is
// its overhead: checks, guardrails with their webhooks, reservations, translation.
//
// The overhead of an answer in one piece is the time until it is known, without these parts. That of a
// stream ends with its first event: from then on the gateway works while the provider does, and a
// slow client cannot be told from a slow gateway. Neither has the time in which the client is written
// to.
type phases struct {
	body     time.Duration // reading the client's request
	queued   time.Duration // waiting for concurrency slots
	provider time.Duration // sending to providers, waiting for them, and pauses that they asked for
}

// overhead returns the rest of a time since the request began.
func (p *phases) overhead(since time.Duration) time.Duration {
	return max(since-p.body-p.queued-p.provider, 0)
}

// queue begins the wait for a permit, if the call waits for it.
func (a *admission) queue(permit *limits.Permit) queueWait {
	if !permit.Waiting() {
		return queueWait{}
	}
	return queueWait{a, permit, a.deps.Now(), a.trace.queued()}
}

// queueWait is a wait for concurrency slots. The zero value is none.
type queueWait struct {
	admission *admission
	permit    *limits.Permit
	began     time.Time
	span      queueSpan
}

// end notes how long the call waited. It returns err, with which the wait ended.
func (w queueWait) end(err error) error {
	if w.permit == nil {
		return err
	}
	a := w.admission
	waited := a.deps.Now().Sub(w.began)
	a.phases.queued += waited
	a.deps.Metrics.Queued(metrics.QueueOf(w.permit.Queue()), waited)
	w.span.end(err)
	return err
}

// waitFor pauses between two attempts. It reports what pause reports.
func (a *attempts) waitFor(client context.Context, d time.Duration) bool {
	c, began := a.call, a.call.deps.Now()
	defer func() { c.phases.provider += c.deps.Now().Sub(began) }()
	return a.pause(client, d)
}

// waited notes that the call has waited for its provider since that time.
func (u *upstream) waited(since time.Time) {
	pause := u.deps.Now().Sub(since)
	if u.waits.over.IsZero() { // else nothing is generated
		u.meter.waited(pause)
	}
	u.request.phases.provider += pause
}
