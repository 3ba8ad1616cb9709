package vncsession

import (
	"cmp"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/tracing"
)

// trace makes the span of a session that has ended, and notes its trace in the record. It is a trace of
// its own, for a session may begin and end long after the request that asked for its token. The record of
// an agent's session has the trace of the run.
func (s *Session) trace(r *activity.Record) {
	r.TraceID = s.Pass.Issuer.Trace.Run()
	span := s.Pass.Issuer.Trace.Start(tracing.SpanSession, s.begun)
	if span == nil {
		return
	}
	r.TraceID = cmp.Or(r.TraceID, span.SpanContext().TraceID().String())
	span.SetAttributes(
		tracing.RequestID.String(r.RequestID), tracing.Tenant.String(r.Tenant), tracing.Key.String(r.Key),
		tracing.Workstation.String(tracing.Text(r.Workstation)), tracing.Session.String(r.ID),
	)
	if r.Ended != "" {
		span.SetAttributes(tracing.Ended.String(r.Ended))
	}
	if r.Code != "" {
		span.SetAttributes(tracing.Code.String(r.Code))
	}
	tracing.SetError(span, r.Code)
	span.End()
}
