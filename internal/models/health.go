package models

import (
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Target is the health of a model that the catalog knows, at a provider or at one of its endpoints.
type Target struct {
	Provider string
	Model    catalog.Model
	Endpoint string // "" for the only one
	failover.Status
}

// Targets returns the health of those targets of this configuration whose models are allowed,
// ordered by id. A target has a record from its first call on. A nil allowed allows all.
func (m *Index) Targets(allowed func(model string) bool) (targets []Target) {
	for _, s := range m.health.Snapshot() {
		if t, ok := m.Target(s.ID); ok && (allowed == nil || allowed(t.Model.ID)) {
			t.Status = s
			targets = append(targets, t)
		}
	}
	return targets
}

// Target finds a target of this configuration by its id. ok is false if it is none or the catalog
// does not know its model. The name of a model may have an "@", too.
func (m *Index) Target(id string) (t Target, ok bool) {
	if t, ok = m.targetAt(id, ""); ok {
		return t, true
	}
	if at := strings.LastIndexByte(id, '@'); at >= 0 {
		return m.targetAt(id[:at], id[at+1:])
	}
	return t, false
}

func (m *Index) targetAt(name, endpoint string) (t Target, ok bool) {
	model, err := m.catalog.Resolve(name)
	if err != nil || !model.Known {
		return t, false
	}
	p := m.providers[model.Provider]
	if p == nil || !slices.ContainsFunc(p.Endpoints, func(e *provider.Endpoint) bool { return e.Name == endpoint }) {
		return t, false
	}
	return Target{Provider: p.Name, Model: *model, Endpoint: endpoint}, true
}
