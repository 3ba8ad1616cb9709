package modelcall

import (
	"context"
	"maps"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/tracing"
)

// callTrace has the spans of a request. The one of the server is that of Caddy's directive tracing:
//
//	SERVER --> gatehouse.queue
//	       --> chat {model} --> POST, one for each request to a provider
//
// It is nil for a request that is not recorded. All methods take nil; they then do nothing and
// allocate nothing.
type callTrace struct {
	server  trace.Span
	tracer  trace.Tracer
	parent  context.Context // of the server's span
	params  []attribute.KeyValue
	call    trace.Span      // of the logical call; nil before its first attempt
	inCall  context.Context // of call
	began   time.Time       // when call began
	attempt trace.Span      // the request to a provider that is under way; nil: none
	model   string          // that the answer names
	looked  int             // parts of the answer that were looked at for it
	session string
}

// newTrace returns nil unless the server's span is recorded.
func newTrace(r *http.Request) *callTrace {
	server := trace.SpanFromContext(r.Context())
	if !server.IsRecording() {
		return nil
	}
	return &callTrace{server: server, tracer: tracing.Tracer(server), parent: r.Context()}
}

// id is the trace as records and logs have it, "" for none.
func (t *callTrace) id() string {
	if t == nil {
		return ""
	}
	return t.server.SpanContext().TraceID().String()
}

// asked notes the parameters of a request.
func (t *callTrace) asked(b *jsonscan.Body, stream bool) {
	if t != nil {
		t.params = append(parametersOf(b), tracing.RequestStream.Bool(stream))
	}
}

// queued begins the span of a wait for concurrency slots.
func (t *callTrace) queued() queueSpan {
	if t == nil {
		return queueSpan{}
	}
	_, span := t.tracer.Start(t.parent, tracing.SpanQueue)
	return queueSpan{span}
}

// queueSpan is the span of a wait; without a span it does nothing.
type queueSpan struct{ span trace.Span }

// end ends the span of a wait that ended with err.
func (q queueSpan) end(err error) {
	if q.span != nil {
		tracing.SetError(q.span, codeOf(err))
		q.span.End()
	}
}

// startAttempt begins the span of a request to a provider, and before the first one that of the call.
func (t *callTrace) startAttempt(u *upstream) {
	if t == nil {
		return
	}
	c := u.request.call
	if t.call == nil {
		t.began = u.deps.Now()
		t.inCall, t.call = t.tracer.Start(t.parent, spanName(c),
			trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(requestAttributes(c, u.target)...))
	}
	t.model, t.looked = "", 0
	_, t.attempt = t.tracer.Start(t.inCall, tracing.SpanAttempt, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attemptAttributes(c, u.target)...))
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

// judged notes what a guardrail did.
func (t *callTrace) judged(action string, verdicts ...guardrail.Verdict) {
	if t == nil {
		return
	}
	span := t.server
	if t.call != nil {
		span = t.call
	}
	for _, v := range verdicts {
		list := []attribute.KeyValue{tracing.Guardrail.String(v.Guardrail), tracing.GuardrailAction.String(action)}
		if v.Class != "" {
			list = append(list, tracing.GuardrailClass.String(tracing.Text(v.Class)))
		}
		span.AddEvent(tracing.EventGuardrail, trace.WithAttributes(list...))
	}
}

// What guardrails do, as events of spans name it.
const (
	actionRedact      = "redact"
	actionDeny        = "deny"
	actionUnavailable = "unavailable" // its webhook could not be asked
)

// finish ends the spans of a request whose record is complete. The server's span has ended later: it
// is Caddy's.
func (t *callTrace) finish(q *Request) {
	if t == nil {
		return
	}
	t.endAttempt(0, q.Record.Code) // one that a panic left
	t.server.SetAttributes(serverAttributes(q, t)...)
	if q.Record.Status >= http.StatusInternalServerError { // below it the conventions leave the status alone
		t.server.SetStatus(codes.Error, "")
	}
	if t.call == nil {
		return
	}
	t.call.SetAttributes(answerAttributes(q.call, t)...)
	tracing.SetError(t.call, q.Record.Code)
	t.call.End()
}

// traced begins the span of a request to a provider, and names it to one that takes trace context.
// Without a recorded span that is the server's, so that the provider knows it is not sampled.
func (u *upstream) traced(r provider.Request) provider.Request {
	t := u.request.trace
	t.startAttempt(u)
	if !u.target.provider.TraceContext {
		return r
	}
	span := trace.SpanContextFromContext(u.client)
	if t != nil {
		span = t.attempt.SpanContext()
	}
	if span.IsValid() {
		header := make(http.Header, len(r.Header)+1)
		maps.Copy(header, r.Header)
		header["Traceparent"] = []string{traceparent(span)}
		r.Header = header
	}
	return r
}

// traceparent is the header field of W3C Trace Context (section 3.2). The field tracestate is not
// sent: it has what callers wrote.
func traceparent(span trace.SpanContext) string {
	sampled := "-00"
	if span.IsSampled() {
		sampled = "-01"
	}
	return "00-" + span.TraceID().String() + "-" + span.SpanID().String() + sampled
}
