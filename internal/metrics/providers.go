package metrics

import "github.com/prometheus/client_golang/prometheus"

// ProviderUp is whether a model of the catalog works at a provider, or at one of its endpoints.
type ProviderUp struct {
	Provider, Model, Endpoint string // Endpoint "" for the only one
	Up                        bool
}

// providersUp collects a gauge for each target that has a record.
type providersUp struct {
	desc *prometheus.Desc
	list func() []ProviderUp
}

func newProvidersUp(list func() []ProviderUp) providersUp {
	return providersUp{prometheus.NewDesc(prometheus.BuildFQName(namespace, "provider", "up"),
		"1 if a model works at a provider, 0 since its calls failed; models that had a call within an hour.",
		[]string{"provider", "model", "endpoint"}, nil), list}
}

// Describe implements prometheus.Collector.
func (p providersUp) Describe(ch chan<- *prometheus.Desc) { ch <- p.desc }

// Collect implements prometheus.Collector.
func (p providersUp) Collect(ch chan<- prometheus.Metric) {
	for _, t := range p.list() {
		value := 0.0
		if t.Up {
			value = 1
		}
		ch <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, value, t.Provider, t.Model, t.Endpoint)
	}
}
