package metrics_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
)

func BenchmarkEnded(b *testing.B) {
	m := newMetrics()
	call := metrics.Call{
		Route: "POST /v1/chat/completions", Provider: "acme", Model: "acme/model-1", Status: 200,
		Duration: 1234567 * time.Nanosecond, Prompt: 250, Completion: 20, Tenant: "default", Counted: true, CostNano: 12345,
		Overhead: 98765 * time.Nanosecond, Operation: metrics.Operation{Name: "chat", Provider: "openai", Duration: 1134567 * time.Nanosecond},
	}
	for name, firstToken := range map[string]time.Duration{"whole": 0, "stream": time.Millisecond} {
		call.FirstToken = firstToken
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Ended(call)
				m.Attempted(metrics.Attempt{Provider: "acme", Outcome: metrics.OK})
			}
		})
	}
}
