package admission

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// queue begins the wait for a permit, if the call waits for it.
func (a *Permits) queue(permit *limits.Permit) queueWait {
	if !permit.Waiting() {
		return queueWait{}
	}
	return queueWait{a, permit, a.deps.Now(), a.req.Trace.Queued()}
}

// queueWait is a wait for concurrency slots. The zero value is none.
type queueWait struct {
	permits *Permits
	permit  *limits.Permit
	began   time.Time
	span    request.QueueSpan
}

// end notes how long the call waited. It returns err, with which the wait ended.
func (w queueWait) end(err error) error {
	if w.permit == nil {
		return err
	}
	a := w.permits
	waited := a.deps.Now().Sub(w.began)
	a.req.Outcome.Phases.Queued += waited
	a.deps.Metrics.Queued(metrics.QueueOf(w.permit.Queue()), waited)
	w.span.End(err)
	return err
}
