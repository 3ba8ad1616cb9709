package modelcall

import (
	"context"
	"maps"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/tracing"
)

// callTrace has the spans of a call, below the one of its request:
//
//	SERVER --> gatehouse.queue
//	       --> chat {model} --> POST, one for each request to a provider
//
// It is nil for a request that is not recorded. The methods that steps of a call use take nil; they
// then do nothing and allocate nothing.
type callTrace struct {
	req     *request.Request
	op      *wire.Operation
	params  []attribute.KeyValue
	call    trace.Span      // of the logical call; nil before its first attempt
	inCall  context.Context // of call
	began   time.Time       // when call began
	attempt trace.Span      // the request to a provider that is under way; nil: none
	model   string          // that the answer names
	looked  int             // parts of the answer that were looked at for it
}

func newTrace(q *request.Request, op *wire.Operation) *callTrace {
	if q.Trace == nil {
		return nil
	}
	return &callTrace{req: q, op: op}
}

// asked notes the parameters of a request.
func (t *callTrace) asked(b *jsonscan.Body, stream bool) {
	if t != nil {
		t.params = append(parametersOf(b), tracing.RequestStream.Bool(stream))
	}
}

// startAttempt begins the span of a request to a provider, and before the first one that of the call.
func (t *callTrace) startAttempt(at *target, now time.Time) {
	if t == nil || t.op.Span == "" {
		return
	}
	of := t.req.Trace
	if t.call == nil {
		t.began = now
		t.inCall, t.call = of.Tracer.Start(of.Parent, t.spanName(),
			trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(t.requestAttributes(at)...))
		of.SetCall(t.call)
	}
	t.model, t.looked = "", 0
	_, t.attempt = of.Tracer.Start(t.inCall, tracing.SpanAttempt, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(t.attemptAttributes(at)...))
}

// endAttempt ends the span of a request to a provider with the status of its answer, 0 for none, and
// the code of its failure, "" for none.
func (t *callTrace) endAttempt(status int, code string) {
	if t == nil || t.attempt == nil {
		return
	}
	if status != 0 {
		t.attempt.SetAttributes(tracing.StatusCode.Int(status))
	}
	if code != string(apierror.GuardrailBlocked) { // the provider did its part
		tracing.SetError(t.attempt, code)
	}
	t.attempt.End()
	t.attempt = nil
}

// answered looks for the model that an answer names, in one of its parts.
func (t *callTrace) answered(part []byte) {
	if t != nil && t.model == "" && t.looked < mostLooked {
		t.looked++
		t.model = modelOf(part)
	}
}

// mostLooked is how many parts of an answer are looked at: providers name the model in the first
// event, or in the one after a ping.
const mostLooked = 4

// finish ends the spans of a call whose record is complete. Last is the target of its last attempt, and
// m has measured that.
func (t *callTrace) finish(last *target, m *meter) {
	if t == nil {
		return
	}
	t.endAttempt(0, t.req.Outcome.Record.Code) // one that a panic left
	if t.call == nil {
		return
	}
	t.call.SetAttributes(t.answerAttributes(last, m)...)
	tracing.SetError(t.call, t.req.Outcome.Record.Code)
	t.call.End()
}

// traced begins the span of a request to a provider, and names it to one that takes trace context.
// Without a recorded span that is the server's, so that the provider knows it is not sampled.
func (u *upstream) traced(r provider.Request) provider.Request {
	t := u.trace
	t.startAttempt(u.target, u.deps.Now())
	if !u.target.provider.TraceContext {
		return r
	}
	span := trace.SpanContextFromContext(u.drain.client)
	if t != nil && t.attempt != nil {
		span = t.attempt.SpanContext()
	}
	if span.IsValid() {
		header := make(http.Header, len(r.Header)+1)
		maps.Copy(header, r.Header)
		header["Traceparent"] = []string{request.TraceparentOf(span)}
		r.Header = header
	}
	return r
}
