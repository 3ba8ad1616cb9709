// Package metrics has the gateway's Prometheus collectors.
//
// The values outlive a configuration: one [Metrics] belongs to the gateway's State and is
// registered on the registry of each new configuration. No label has a value that a caller can make
// up: routes, providers, tenants, guardrails and codes are ours, and a model is named only if the
// catalog knows it. No label names a key or a request, except for the keys whose budgets an operator
// has configured, of which the fullest are shown.
package metrics

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const namespace = "gatehouse"

// Metrics is the set of collectors.
type Metrics struct {
	Console *Console

	calls      calls
	tenants    *tenants
	attempts   *prometheus.CounterVec
	refused    *prometheus.CounterVec
	guardrails *prometheus.CounterVec
	queueWait  *prometheus.HistogramVec
	store      store
	vnc        vnc
	gauges     []prometheus.Collector // read at each scrape
}

// New returns a new set that is not registered yet.
func New(g Gauges) *Metrics {
	return &Metrics{
		Console: newConsole(),
		calls:   newCalls(),
		tenants: newTenants(),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "provider_attempts_total",
			Help: "Requests to providers that ended, by provider, outcome and machine code (empty for success); a call that fails over has several.",
		}, []string{"provider", "code", "outcome"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "unauthenticated_total",
			Help: "Requests without a valid key, by route.",
		}, []string{"route"}),
		guardrails: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "guardrail_actions_total",
			Help: "Requests and answers that a guardrail refused (deny), changed (redact) or could not judge (unavailable).",
		}, []string{"guardrail", "action"}),
		queueWait: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "queue_wait_seconds", Buckets: waitBuckets,
			Help: "Time that calls waited for a concurrency slot, by whose limit was reached; calls that did not wait are not counted.",
		}, []string{"queue"}),
		store:  newStore(),
		vnc:    newVNC(),
		gauges: g.collectors(),
	}
}

// waitBuckets reach from a call that just missed a slot to the longest queue timeout that makes sense.
var waitBuckets = []float64{.001, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// Register adds the collectors to the registry of a configuration. A second registration of the
// same set is not an error.
func (m *Metrics) Register(registry prometheus.Registerer) error {
	all := []prometheus.Collector{m.attempts, m.refused, m.guardrails, m.queueWait}
	for _, group := range [][]prometheus.Collector{m.calls.collectors(), m.tenants.collectors(), m.store.collectors(), m.vnc.collectors(), m.Console.collectors(), m.gauges} {
		all = append(all, group...)
	}
	for _, c := range all {
		var twice prometheus.AlreadyRegisteredError
		if err := registry.Register(c); err != nil && !errors.As(err, &twice) {
			return err
		}
	}
	return nil
}

// Unauthenticated counts one request without a valid key.
func (m *Metrics) Unauthenticated(route string) { m.refused.WithLabelValues(route).Inc() }

// What a guardrail did with a text.
const (
	GuardrailDeny        = "deny"
	GuardrailRedact      = "redact"
	GuardrailUnavailable = "unavailable" // its webhook could not be asked
)

// Guarded counts one request or answer on which a guardrail acted.
func (m *Metrics) Guarded(guardrail, action string) {
	m.guardrails.WithLabelValues(guardrail, action).Inc()
}

// Queued counts one call that waited for a concurrency slot, whether it got one or not.
func (m *Metrics) Queued(at Queue, waited time.Duration) {
	m.queueWait.WithLabelValues(string(at)).Observe(waited.Seconds())
}

// Attempted counts one request to a provider.
func (m *Metrics) Attempted(a Attempt) { m.attempt(a).Inc() }

func (m *Metrics) attempt(a Attempt) prometheus.Counter {
	return m.attempts.WithLabelValues(a.Provider, a.Code, string(a.Outcome))
}

// Committed counts one group commit.
func (m *Metrics) Committed(took time.Duration) { m.store.commits.Observe(took.Seconds()) }

// StoreFailed counts one write to the database or its redo log that failed.
func (m *Metrics) StoreFailed(error) { m.store.errors.Inc() }

// LedgerFailed counts one failure of the ledger.
func (m *Metrics) LedgerFailed() { m.store.ledgerErrors.Inc() }
