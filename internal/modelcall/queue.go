package modelcall

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
)

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
	a.phases.Queued += waited
	a.deps.Metrics.Queued(metrics.QueueOf(w.permit.Queue()), waited)
	w.span.end(err)
	return err
}
