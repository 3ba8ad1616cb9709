package modelcall

import (
	"net"
	"net/http"
	"sync"

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

// calls are used again. What may run late on other goroutines (a timer, the drain, the transport) has
// the request or the attempt, which are not used again, and reads nothing of the call through them. A
// stream has timers of its own: it is left to the collector, and so is a call that fails or panics.
var calls = sync.Pool{New: func() any { return new(call) }}

func newCall(d *Deps, q *request.Request, op *wire.Operation, api wire.API) *call {
	record, trace := q.Outcome.Record, newTrace(q, op)
	c := calls.Get().(*call)
	*c = call{
		deps: d, req: q, op: op, api: api, trace: trace,
		admission: admission{deps: d, phases: &q.Outcome.Phases, trace: trace},
		charge:    charge{deps: d, record: record, key: d.Limits.Of(q.Caller.Key, q.Caller.Limits)},
		guard:     guard{deps: d, outcome: &q.Outcome, trace: trace},
		state:     storedState{deps: d, caller: &q.Caller, op: op},
		sealed:    sealed{deps: d, requestID: record.RequestID},
	}
	c.tried = newTried(c.req, &c.asked, &c.to)
	q.Work = c
	return c
}

// refused completes the answer to a call that failed and was not answered.
func (c *call) refused() {
	c.admission.shown(c.api).set(c.req.Writer.Header())
	c.req.Extra = c.tried.member()
}

// Settle implements [request.Work]: it ends what the call holds, its upstream request, its reservation
// and its concurrency slots.
func (c *call) Settle() {
	m, served := c.attempt.close()
	used := c.charge.used(m, served)
	c.admission.settle(used.Tokens)
	c.charge.settle(used)
	c.body.Release()
	c.trace.finish(c.charge.target, m)
}

// onLoopback reports whether the request came in at an address that only this machine can reach.
func onLoopback(r *http.Request) bool {
	switch addr := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		return addr.IP.IsLoopback()
	case *net.UDPAddr: // HTTP/3
		return addr.IP.IsLoopback()
	}
	return true
}
