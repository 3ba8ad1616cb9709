package modelcall

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// unrecorded are requests that no span records: without tracing, and in a trace that is not sampled.
func unrecorded() map[string]*http.Request {
	plain := post(strings.NewReader(""), 0)
	return map[string]*http.Request{
		"not traced":  plain,
		"not sampled": plain.WithContext(trace.ContextWithSpanContext(plain.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}))),
	}
}

// traceAll takes all steps of a trace. For a request that is not recorded none has an effect.
func traceAll(q *request.Request) string {
	t := newTrace(q, wire.Chat)
	t.asked(nil, false)
	q.Trace.Queued().End(nil)
	q.Trace.Judged(metrics.GuardrailDeny, "secrets", "")
	t.startAttempt(nil, time.Time{})
	t.answered(nil)
	t.endAttempt(200, "")
	t.finish(nil, nil)
	return q.Outcome.Record.TraceID
}

func TestNothingIsAllocatedForARequestThatIsNotRecorded(t *testing.T) {
	r := newRig(t, answering(200, "{}"))
	for name, req := range unrecorded() {
		q := r.request(t, httptest.NewRecorder(), req)
		if n := testing.AllocsPerRun(100, func() {
			if id := traceAll(q); id != "" {
				t.Error(id)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// BenchmarkTrace is what traces cost a call that is not recorded.
func BenchmarkTrace(b *testing.B) {
	r := newRig(b, answering(200, "{}"))
	for name, req := range unrecorded() {
		q := r.request(b, httptest.NewRecorder(), req)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				traceAll(q)
			}
		})
	}
}

// BenchmarkTracedCall is a call that is recorded; the spans are kept in memory and thrown away.
func BenchmarkTracedCall(b *testing.B) {
	r, s := newRig(b, writing(answering(200, chatAnswerBody))), newTraces()
	b.ReportAllocs()
	for b.Loop() {
		s.serve(b, r, wire.Chat, hello)
		s.exporter.Reset()
	}
}
