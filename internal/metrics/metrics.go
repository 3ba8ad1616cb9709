// Package metrics has the gateway's Prometheus collectors.
//
// The values outlive a configuration: one [Metrics] belongs to the gateway's State and is
// registered on the registry of each new configuration. Labels have a bounded number of values:
// routes, providers and codes are ours, and a model is named only if the catalog knows it.
package metrics

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const namespace = "gatehouse"

// Metrics is the set of collectors.
type Metrics struct {
	requests   *prometheus.CounterVec
	duration   *prometheus.HistogramVec
	firstToken *prometheus.HistogramVec
	tokens     *prometheus.CounterVec
	attempts   *prometheus.CounterVec
	providers  providersUp
	refused    *prometheus.CounterVec
	lost       prometheus.CounterFunc
	inflight   prometheus.GaugeFunc
	vnc        vnc
	cache      seriesCache
}

// Gauges are values that are read at each scrape.
type Gauges struct {
	ActivityLost func() float64 // activity rows dropped because the store was too slow
	InFlight     func() float64 // calls under way
	Sessions     func() float64 // open VNC sessions
	HalfOpen     func() float64 // VNC connections in their handshake
	Providers    func() []ProviderUp
}

// durationBuckets reach from a cached answer to the longest generation that an SDK waits for (600
// s).
var durationBuckets = []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}

// New returns a new set that is not registered yet.
func New(g Gauges) *Metrics {
	return &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "requests_total",
			Help: "Calls of authenticated callers that ended, by route, provider, model, HTTP status and machine code (empty for success).",
		}, []string{"route", "provider", "model", "status", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "request_duration_seconds", Buckets: durationBuckets,
			Help: "Time from the request's header to the end of the answer of calls that reached a provider.",
		}, []string{"route", "provider"}),
		firstToken: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "first_token_seconds", Buckets: durationBuckets,
			Help: "Time from the request's header to the first event of a stream.",
		}, []string{"route", "provider"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "tokens_total",
			Help: "Tokens as reported by providers, by direction (prompt, completion).",
		}, []string{"provider", "model", "direction"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "provider_attempts_total",
			Help: "Requests to providers that ended, by provider and machine code (empty for success); a call that fails over has several.",
		}, []string{"provider", "code"}),
		providers: newProvidersUp(g.Providers),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "unauthenticated_total",
			Help: "Requests without a valid key, by route.",
		}, []string{"route"}),
		lost: prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Name: "activity_rows_lost_total",
			Help: "Activity rows dropped because the store could not keep up.",
		}, g.ActivityLost),
		inflight: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "requests_in_flight",
			Help: "Calls under way.",
		}, g.InFlight),
		vnc: newVNC(g),
	}
}

// Register adds the collectors to the registry of a configuration. A second registration of the
// same set is not an error.
func (m *Metrics) Register(registry prometheus.Registerer) error {
	all := []prometheus.Collector{m.requests, m.duration, m.firstToken, m.tokens, m.attempts, m.providers, m.refused, m.lost, m.inflight}
	for _, c := range append(all, m.vnc.collectors()...) {
		var twice prometheus.AlreadyRegisteredError
		if err := registry.Register(c); err != nil && !errors.As(err, &twice) {
			return err
		}
	}
	return nil
}

// Call is one ended call.
type Call struct {
	Route, Provider, Model, Code string
	Status                       int
	Duration, FirstToken         time.Duration // FirstToken 0 = no stream
	Prompt, Completion           int64
}

// Ended counts one call.
func (m *Metrics) Ended(c Call) {
	s := m.seriesOf(&c)
	s.requests.Inc()
	if s.duration != nil {
		s.duration.Observe(c.Duration.Seconds())
	}
	if s.firstToken != nil {
		s.firstToken.Observe(c.FirstToken.Seconds())
	}
	if s.prompt != nil {
		s.prompt.Add(float64(c.Prompt))
	}
	if s.completion != nil {
		s.completion.Add(float64(c.Completion))
	}
}

// Attempted counts one request to a provider. code is "" for a success.
func (m *Metrics) Attempted(provider, code string) { m.attempts.WithLabelValues(provider, code).Inc() }

// Unauthenticated counts one request without a valid key.
func (m *Metrics) Unauthenticated(route string) { m.refused.WithLabelValues(route).Inc() }
