package modelcall

import (
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// Serve runs a model call and writes its answer. An error was not written; the header of its answer has
// the rates that the call was counted against.
func Serve(d *Deps, q *request.Request, op *wire.Operation, api wire.API) error {
	return ServePath(d, q, op, api, wire.Path{})
}

// ServePath is Serve for a request whose path says what others have in their bodies.
func ServePath(d *Deps, q *request.Request, op *wire.Operation, api wire.API, path wire.Path) error {
	c := newCall(d, q, op, api)
	c.asked = path.Request()
	err := c.run(q.HTTP.Context())
	if err != nil {
		c.refused()
		return err
	}
	if q.Finished() && !c.asked.Stream {
		q.Work = nil
		*c = call{}
		calls.Put(c)
	}
	return nil
}

// Check refuses a request that could not be a call, and answers none: no rate counts it, no
// provider gets it and nothing is charged.
func Check(d *Deps, q *request.Request, op *wire.Operation, api wire.API) error {
	return look(q.HTTP.Context(), newCall(d, q, op, api), withinBudgets)
}

// calls are used again. What may run late on other goroutines (a timer, the drain, the transport) has
// the request or the attempt, which are not used again, and reads nothing of the call through them. A
// stream has timers of its own: it is left to the collector, and so is a call that fails or panics.
var calls = sync.Pool{New: func() any { return new(call) }}

func newCall(d *Deps, q *request.Request, op *wire.Operation, api wire.API) *call {
	record, trace, key := q.Outcome.Record, newTrace(q, op), d.Limits.Of(q.Caller.Key, q.Caller.Limits)
	c := calls.Get().(*call)
	*c = call{
		deps: d, req: q, op: op, api: api, trace: trace, body: jsonscan.Body{TwoSpellings: op.TwoSpellings},
		permits: admission.PermitsOf(&d.Deps, q),
		charge:  charge{deps: d, record: record, key: key, spending: admission.SpendingOf(&d.Deps, q, key)},
		guard:   admission.GuardOf(&d.Deps, q, "provider"),
		state:   storedState{deps: d, caller: &q.Caller, op: op},
		sealed:  sealed{deps: d, requestID: record.RequestID},
	}
	c.tried = newTried(c.req, &c.asked, &c.to)
	q.Work = c
	return c
}

// refused completes the answer to a call that failed and was not answered.
func (c *call) refused() {
	ratesOf(c).set(c.req.Writer.Header())
	c.req.Extra = c.tried.member()
}

// Settle implements [request.Work]: it ends what the call holds, its upstream request, its reservation
// and its concurrency slots.
func (c *call) Settle() {
	m, served := c.attempt.close()
	used := c.charge.used(m, served)
	if c.to.several {
		c.charge.record.Skipped = c.to.skipped
	}
	c.permits.Settle(used.Tokens)
	c.charge.spending.Settle(used)
	c.body.Release()
	c.trace.finish(c.charge.target, m)
}
