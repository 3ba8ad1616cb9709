// Package tracing has what all spans of the gateway share: their names and attributes, and
// where they go.
//
// Caddy's directive tracing has the only provider of tracers, and does not share it. The gateway takes
// it from the span of an HTTP request. What follows a request outside HTTP, such as the session of a
// viewer, keeps its [Origin].
package tracing

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Tracer returns the gateway's tracer of where a recorded span goes.
func Tracer(span trace.Span) trace.Tracer { return span.TracerProvider().Tracer(scope) }

// Origin is the recorded span of a request, for a span that begins when the request is over.
type Origin struct {
	provider trace.TracerProvider // after its end it makes spans that record nothing; nil: there is no span
	request  trace.SpanContext
	run      string
}

// OriginOf returns the origin of what a request leads to, nil if its span is not recorded.
func OriginOf(span trace.Span) *Origin {
	if !span.IsRecording() {
		return nil
	}
	return &Origin{provider: span.TracerProvider(), request: span.SpanContext()}
}

// InRun returns the origin of what belongs to the run of a trace, which its rows have too. It may be
// called on nil.
func (o *Origin) InRun(trace string) *Origin {
	if trace == "" {
		return o
	}
	in := Origin{run: trace}
	if o != nil {
		in.provider, in.request = o.provider, o.request
	}
	return &in
}

// Run returns the trace of the run, "" for none.
func (o *Origin) Run() string {
	if o == nil {
		return ""
	}
	return o.run
}

// Start begins a trace of its own, at a time in the past, that is linked to the request. It returns nil
// if the trace is not sampled, if the configuration has no tracing any more, or for a nil Origin.
func (o *Origin) Start(name string, began time.Time) trace.Span {
	if o == nil || o.provider == nil {
		return nil
	}
	_, span := o.provider.Tracer(scope).Start(context.Background(), name, trace.WithNewRoot(), trace.WithTimestamp(began),
		trace.WithSpanKind(trace.SpanKindServer), trace.WithLinks(trace.Link{SpanContext: o.request}))
	if !span.IsRecording() {
		return nil
	}
	return span
}

// SetError marks a span as failed; "" is no failure. The description of the status stays empty: the
// texts of failures are a provider's.
func SetError(span trace.Span, code string) {
	if code != "" {
		span.SetAttributes(ErrorType.String(code))
		span.SetStatus(codes.Error, "")
	}
}

// maxText bounds a caller's or a provider's text in a span, in bytes, as in the log.
const maxText = 200

// Text bounds a text. An exporter drops all spans of a batch with text that is not UTF-8.
func Text(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "\uFFFD")
}
