package vncsession

import (
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/tracing"
)

// A session is a trace of its own, linked to the request that asked for its token.
func TestASessionIsASpanWhereItsTokenWasTraced(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	_, request := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)).Tracer("caddy").Start(t.Context(), "POST")
	r := newRig(t)
	r.pass.Issuer.Trace = tracing.OriginOf(request)
	request.End()
	exporter.Reset()
	s := Open(r.deps, r.pass, viewer, "X509None")
	if err := s.Join(); err != nil {
		t.Fatal(err)
	}
	s.Finish(desktop.ReasonViewer)
	record, line := r.ended(t, "gatehouse_vnc_sessions_total")
	spans := exporter.GetSpans()
	if len(spans) != 1 {
		t.Fatalf("%d spans", len(spans))
	}
	span := spans[0]
	if id := span.SpanContext.TraceID(); record.TraceID != id.String() || line.ContextMap()["trace_id"] != id.String() || id == request.SpanContext().TraceID() {
		t.Errorf("the record has the trace %s, the log line %v, the span %s", record.TraceID, line.ContextMap()["trace_id"], id)
	}
	if span.Parent.IsValid() || len(span.Links) != 1 || span.Links[0].SpanContext.SpanID() != request.SpanContext().SpanID() || !span.StartTime.Equal(s.begun) {
		t.Errorf("%+v", span)
	}
	got := map[string]string{}
	for _, a := range span.Attributes {
		got[string(a.Key)] = a.Value.String()
	}
	for key, want := range map[string]string{
		"gatehouse.workstation": "desk1", "gatehouse.session": s.Live.ID, "gatehouse.ended": record.Ended, "gatehouse.tenant": "default", "gatehouse.key": "dev",
		"gatehouse.request_id": record.RequestID, "error.type": "",
	} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
}

func TestARefusedViewerIsASpanWithAnError(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	_, request := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)).Tracer("caddy").Start(t.Context(), "POST")
	r := newRig(t)
	r.pass.Issuer.Trace = tracing.OriginOf(request)
	s := Open(r.deps, r.pass, viewer, "X509None")
	s.Refuse(desktop.NewRefusal(desktop.RefusedInternal), nil)
	s.Finish(desktop.ReasonViewer)
	if spans := exporter.GetSpans(); len(spans) != 1 || spans[0].Status.Code.String() != "Error" || r.records[0].TraceID == "" {
		t.Errorf("%+v", spans)
	}
}

func TestASessionWithoutATraceHasNone(t *testing.T) {
	r := newRig(t)
	Open(r.deps, r.pass, viewer, "X509None").Finish(desktop.ReasonViewer)
	if _, traced := r.lines.All()[0].ContextMap()["trace_id"]; r.records[0].TraceID != "" || traced {
		t.Errorf("%+v", r.records[0])
	}
}

// The row of an agent's session has the trace of the agent's run, whether spans are recorded or not.
func TestASessionOfARunHasItsTrace(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	_, request := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)).Tracer("caddy").Start(t.Context(), "POST")
	for _, origin := range []*tracing.Origin{nil, tracing.OriginOf(request)} {
		r := newRig(t)
		r.pass.Issuer.Trace = origin.InRun("0af7651916cd43dd8448eb211c80319c")
		Open(r.deps, r.pass, viewer, "automation").Finish(desktop.ReasonViewer)
		if got := r.records[0].TraceID; got != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("%+v: the record has the trace %q", origin, got)
		}
	}
	if spans := exporter.GetSpans(); len(spans) != 1 {
		t.Errorf("%d spans of the session that is recorded", len(spans))
	}
	if origin := (*tracing.Origin)(nil).InRun(""); origin != nil || origin.Run() != "" {
		t.Errorf("no trace is the origin %+v", origin)
	}
}
