package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Gauges are values that are read at each scrape. None may wait for a disk or a network.
type Gauges struct {
	Build             map[string]string // labels of build_info: what the process was built from
	ActivityLost      func() float64    // activity rows dropped because the store was too slow
	InFlight          func() float64    // calls under way
	BodyMemory        func() float64    // bytes of request bodies
	BodyMemoryLimit   func() float64    // what they may have at most
	AnswerMemory      func() float64    // bytes of large answers of providers
	AnswerMemoryLimit func() float64    // what they may have at most
	StoreQueue        func() float64    // operations that wait for the store
	StoreUp           func() float64    // 1 if the store can be written
	Sessions          func() float64    // open VNC sessions
	HalfOpen          func() float64    // VNC connections in their handshake
	CertificateEnds   func() time.Time  // of VNC viewers; the zero time for none
	Providers         func() []ProviderUp
	Credentials       func() []CredentialLeft
	Sources           func() map[string]bool // sources of workstations, and whether they answer
	Queues            func() map[Queue]int   // calls that wait for a concurrency slot
	Budgets           func() []BudgetSpent   // at most MostBudgets
	Features          func() []Collector     // what the features of the current configuration show
}

// ProviderUp is whether a model of the catalog works at a provider, or at one of its endpoints.
type ProviderUp struct {
	Provider, Model, Endpoint string // Endpoint "" for the only one
	Up                        bool
}

// CredentialLeft is how long a credential lives that a cloud gave for a provider, or for one of its
// endpoints.
type CredentialLeft struct {
	Provider, Endpoint string // Endpoint "" for the only one
	Seconds            float64
}

// MostBudgets bounds the budgets that a scrape shows: those with the highest ratio.
const MostBudgets = 500

// BudgetSpent is the state of a budget.
type BudgetSpent struct {
	Scope  string  // whose it is: "key:dev", "tenant:acme", "gateway"
	Budget string  // as configured: "10usd/day"
	Ratio  float64 // of what was spent to the limit
}

// collectors returns a collector for each value. One that is a list has a gauge for each element.
func (g *Gauges) collectors() []prometheus.Collector {
	all := []prometheus.Collector{newBuildInfo(g.Build), prometheus.NewCounterFunc(prometheus.CounterOpts{
		Namespace: namespace, Name: "activity_rows_lost_total",
		Help: "Activity rows dropped because the store could not keep up.",
	}, g.ActivityLost)}
	for _, one := range []struct {
		name, help string
		value      func() float64
	}{
		{"requests_in_flight", "Calls under way.", g.InFlight},
		{"body_memory_bytes", "Memory that request bodies hold.", g.BodyMemory},
		{"body_memory_limit_bytes", "Memory that request bodies may hold; above it callers get gateway_busy.", g.BodyMemoryLimit},
		{"answer_memory_bytes", "Memory that large answers of providers hold.", g.AnswerMemory},
		{"answer_memory_limit_bytes", "Memory that large answers of providers may hold; above it callers get gateway_busy.", g.AnswerMemoryLimit},
		{"store_queue_length", "Rows and amounts that wait to be written to the database.", g.StoreQueue},
		{"store_up", "1 if the database can be written, 0 while commits fail or do not end.", g.StoreUp},
		{"vnc_sessions_open", "VNC sessions that are open.", g.Sessions},
		{"vnc_connections_half_open", "VNC connections whose handshake is under way.", g.HalfOpen},
	} {
		all = append(all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: one.name, Help: one.help}, one.value))
	}
	for _, of := range []struct {
		name, help string
		labels     []string
		each       func(Show)
	}{
		{"provider_up", "1 if a model works at a provider, 0 since its calls failed; models that had a call within an hour.",
			[]string{"provider", "model", "endpoint"}, func(put Show) {
				for _, t := range g.Providers() {
					put(Number(t.Up), t.Provider, t.Model, t.Endpoint)
				}
			}},
		{"provider_credential_remaining_seconds", "How long the token or key lives that a cloud gave for a provider; 0 without one.",
			[]string{"provider", "endpoint"}, func(put Show) {
				for _, c := range g.Credentials() {
					put(c.Seconds, c.Provider, c.Endpoint)
				}
			}},
		{"source_up", "1 if a source of workstations answers, 0 since five questions in a row have failed.",
			[]string{"source"}, func(put Show) {
				for name, up := range g.Sources() {
					put(Number(up), name)
				}
			}},
		{"queue_length", "Calls that wait for a concurrency slot, by whose limit was reached.",
			[]string{"queue"}, func(put Show) {
				waiting := g.Queues()
				for _, queue := range queues {
					put(float64(waiting[queue]), string(queue))
				}
			}},
		{"budget_spent_ratio", "Part of a configured budget that was spent in its present period, 1 for all of it; the 500 budgets with the highest ratio.",
			[]string{"budget", "scope"}, func(put Show) {
				for _, b := range g.Budgets() {
					put(b.Ratio, b.Budget, b.Scope)
				}
			}},
		{"vnc_certificate_expires_timestamp_seconds", "When the certificate of VNC viewers expires, as a Unix time.",
			nil, func(put Show) {
				if at := g.CertificateEnds(); !at.IsZero() {
					put(float64(at.Unix()))
				}
			}},
	} {
		all = append(all, NewGauge(of.name, of.help, of.labels, of.each))
	}
	return append(all, ofFeatures{g.Features})
}

// Gauge is a value, or one for each element of a list, that is read at each scrape.
type Gauge struct {
	desc *prometheus.Desc
	each func(Show)
}

// Show adds a value to a scrape, with the values of its labels.
type Show func(value float64, labels ...string)

// NewGauge returns a gauge. Each shows its values; it must not wait for a disk or a network.
func NewGauge(name, help string, labels []string, each func(Show)) Gauge {
	return Gauge{prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil), each}
}

// Describe implements prometheus.Collector.
func (g Gauge) Describe(ch chan<- *prometheus.Desc) { ch <- g.desc }

// Collect implements prometheus.Collector.
func (g Gauge) Collect(ch chan<- prometheus.Metric) {
	g.each(func(value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, value, labels...)
	})
}

// Collector is what a feature shows.
type Collector = prometheus.Collector

// ofFeatures collects what features show. It describes none: they come and go with
// configurations.
type ofFeatures struct{ shown func() []Collector }

// Describe implements prometheus.Collector.
func (ofFeatures) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (f ofFeatures) Collect(ch chan<- prometheus.Metric) {
	if f.shown == nil {
		return
	}
	for _, shown := range f.shown() {
		shown.Collect(ch)
	}
}

// Number is 1 for true, 0 for false.
func Number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// newBuildInfo returns a gauge that is always 1. Its labels are what the process was built from.
func newBuildInfo(build map[string]string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info",
		Help:        "Always 1; the version and commit of Gatehouse, and the versions of Caddy and Go that the process was built from.",
		ConstLabels: build,
	}, func() float64 { return 1 })
}
