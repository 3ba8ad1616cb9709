package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Operation is what a call asked of providers, from its first request to them until its end, as its
// span shows it. It is zero for a call that asked no model.
type Operation struct {
	Name     string // gen_ai.operation.name
	Provider string // gen_ai.provider.name
	Duration time.Duration
}

// operations are the metrics of clients in OpenTelemetry's conventions for generative AI, with the
// names that its exporters give them in Prometheus. The conventions may still change. Their
// attributes server.address and gen_ai.response.model are left out: a provider makes up the second.
type operations struct {
	duration *prometheus.HistogramVec
	tokens   *prometheus.HistogramVec
}

func newOperations() operations {
	return operations{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gen_ai_client_operation_duration_seconds",
			Help: "GenAI operation duration, from the first request to a provider to the end of the call (gen_ai.client.operation.duration).",
			// As the conventions want them.
			Buckets: prometheus.ExponentialBuckets(.01, 2, 14),
		}, []string{"gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model", "error_type"}),
		tokens: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "gen_ai_client_token_usage",
			Help:    "Number of input and output tokens that calls used, of those whose provider counted them (gen_ai.client.token.usage).",
			Buckets: prometheus.ExponentialBuckets(1, 4, 14),
		}, []string{"gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model", "gen_ai_token_type"}),
	}
}

// addTo adds the series of a call that asked a model.
func (o *operations) addTo(s *series, k *kind) {
	s.operation = o.duration.WithLabelValues(k.operation, k.operationProvider, k.model, k.code)
	if k.counted {
		s.input = o.tokens.WithLabelValues(k.operation, k.operationProvider, k.model, "input")
		s.output = o.tokens.WithLabelValues(k.operation, k.operationProvider, k.model, "output")
	}
}
