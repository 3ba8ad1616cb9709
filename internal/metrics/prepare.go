package metrics

// Names are the values that labels can have in a configuration.
type Names struct {
	Tenants    []string
	Attempts   []Attempt // without providers
	Providers  []string
	Guardrails []string
	Routes     []string
	Refusals   []string // of desktops
}

// Prepare makes the series of a configuration that count events which are rare and matter, at 0.
// Prometheus sees an increase only of a series that it has seen before: without this it would miss
// the first event of each.
func (m *Metrics) Prepare(n Names) {
	for _, tenant := range n.Tenants {
		m.tenants.of(tenant)
	}
	for _, provider := range n.Providers {
		for _, a := range n.Attempts {
			a.Provider = provider
			m.attempt(a)
		}
	}
	for _, guardrail := range n.Guardrails {
		for _, action := range []string{GuardrailDeny, GuardrailRedact, GuardrailUnavailable} {
			m.guardrails.WithLabelValues(guardrail, action)
		}
	}
	for _, route := range n.Routes {
		m.refused.WithLabelValues(route)
	}
	for _, reason := range n.Refusals {
		m.vnc.refused.WithLabelValues(reason)
	}
}
