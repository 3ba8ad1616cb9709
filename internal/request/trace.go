package request

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
	"github.com/gatehouse-proxy/gatehouse/internal/tracing"
)

// Trace has the span of a request, which is that of Caddy's directive tracing. It is nil for a request
// that is not recorded. All methods take nil; they then do nothing and allocate nothing.
type Trace struct {
	Server trace.Span
	Tracer trace.Tracer
	Parent context.Context // of the server's span

	call    trace.Span // of the logical call, which has the model; nil: none
	session string
}

// newTrace returns nil unless the server's span is recorded.
func newTrace(r *http.Request) *Trace {
	server := trace.SpanFromContext(r.Context())
	if !server.IsRecording() {
		return nil
	}
	return &Trace{Server: server, Tracer: tracing.Tracer(server), Parent: r.Context()}
}

// id is the trace that is recorded, "" for none.
func (t *Trace) id() string {
	if t == nil {
		return ""
	}
	return t.Server.SpanContext().TraceID().String()
}

// Origin returns the origin of what follows the request, nil if it is not recorded.
func (t *Trace) Origin() *tracing.Origin {
	if t == nil {
		return nil
	}
	return tracing.OriginOf(t.Server)
}

// SetSession notes the id of the desktop session that the request is about.
func (t *Trace) SetSession(id string) {
	if t != nil {
		t.session = id
	}
}

// SetCall notes the span of the logical call, which has the model and what guardrails do.
func (t *Trace) SetCall(span trace.Span) {
	if t != nil {
		t.call = span
	}
}

// Judged notes what a guardrail did, in the words of the metric of guardrails, and the class of what
// it found; "" for none.
func (t *Trace) Judged(action, guardrail, class string) {
	if t == nil {
		return
	}
	span := t.Server
	if t.call != nil {
		span = t.call
	}
	list := []attribute.KeyValue{tracing.Guardrail.String(guardrail), tracing.GuardrailAction.String(action)}
	if class != "" {
		list = append(list, tracing.GuardrailClass.String(tracing.Text(class)))
	}
	span.AddEvent(tracing.EventGuardrail, trace.WithAttributes(list...))
}

// Queued begins the span of a wait for concurrency slots.
func (t *Trace) Queued() QueueSpan {
	if t == nil {
		return QueueSpan{}
	}
	_, span := t.Tracer.Start(t.Parent, tracing.SpanQueue)
	return QueueSpan{span}
}

// QueueSpan is the span of a wait; without a span it does nothing.
type QueueSpan struct{ span trace.Span }

// End ends the span of a wait that ended with err.
func (q QueueSpan) End(err error) {
	if q.span == nil {
		return
	}
	code := ""
	if err != nil {
		code = string(apierror.From(err).Code)
	}
	tracing.SetError(q.span, code)
	q.span.End()
}

// finish completes the span of a request whose record is complete. It ends later: it is Caddy's.
func (t *Trace) finish(q *Request) {
	if t == nil {
		return
	}
	r := q.Outcome.Record
	list := []attribute.KeyValue{tracing.RequestID.String(r.RequestID), tracing.Tenant.String(r.Tenant), tracing.Key.String(r.Key)}
	if r.Code != "" {
		list = append(list, tracing.Code.String(r.Code), tracing.ErrorType.String(r.Code))
	}
	if r.Model != "" && t.call == nil {
		list = append(list, tracing.RequestModel.String(q.SpanText(r.Model)))
	}
	if r.Workstation != "" {
		list = append(list, tracing.Workstation.String(q.SpanText(r.Workstation)))
	}
	if t.session != "" {
		list = append(list, tracing.Session.String(q.SpanText(t.session)))
	}
	t.Server.SetAttributes(list...)
	if r.Status >= http.StatusInternalServerError { // below it the conventions leave the status alone
		t.Server.SetStatus(codes.Error, "")
	}
}

// SpanText makes the text of a caller or a provider fit for a span: known secrets are taken out, with
// the caller's own, of which the configuration may know only the hash, and it is bounded and valid.
func (q *Request) SpanText(text string) string {
	return tracing.Text(q.deps.Redactor.Text(redact.Own(text, q.Caller.Secret)))
}

// traceOf returns the id in a traceparent, "" without a valid one. Versions after 00 may have more
// fields.
func traceOf(parent string) string {
	const version, id, span, all = 2, 35, 52, 55 // where fields end
	fits := len(parent) == all || len(parent) > all && parent[:version] != "00" && parent[all] == '-'
	if !fits || parent[version] != '-' || parent[id] != '-' || parent[span] != '-' || parent[:version] == "ff" {
		return ""
	}
	for _, field := range []string{parent[:version], parent[version+1 : id], parent[id+1 : span], parent[span+1 : all]} {
		if strings.Trim(field, "0123456789abcdef") != "" {
			return ""
		}
	}
	if strings.Trim(parent[version+1:id], "0") == "" || strings.Trim(parent[id+1:span], "0") == "" {
		return ""
	}
	return parent[version+1 : id]
}

// Traceparent is that of a request's own span, which may not be sampled; "" without one.
func Traceparent(r *http.Request) string {
	span := trace.SpanContextFromContext(r.Context())
	if !span.IsValid() {
		return ""
	}
	return TraceparentOf(span)
}

// TraceparentOf is the header field of W3C Trace Context (section 3.2). The field tracestate is not
// sent: it has what callers wrote.
func TraceparentOf(span trace.SpanContext) string {
	sampled := "-00"
	if span.IsSampled() {
		sampled = "-01"
	}
	return "00-" + span.TraceID().String() + "-" + span.SpanID().String() + sampled
}
