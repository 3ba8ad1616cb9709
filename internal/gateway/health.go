package gateway

import (
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// The events of a target's health.
const (
	eventUnhealthy = "provider_unhealthy"
	eventHealthy   = "provider_healthy"
)

// Target is the health of a model that the catalog knows, at a provider or at one of its endpoints.
type Target struct {
	Provider string
	Model    catalog.Model
	Endpoint string // "" for the only one
	failover.Status
}

// healthChanged logs that a target became unhealthy or healthy, and emits the event. Callers can make
// up the names of other models than the catalog's: nobody waits for news of those.
func (s *State) healthChanged(c failover.Change) {
	current := s.generations.current()
	if current == nil {
		return
	}
	t, ok := current.gateway.models.target(c.ID)
	if !ok {
		return
	}
	name, data := eventHealthy, map[string]any{"target": c.ID, "provider": t.Provider, "model": t.Model.ID}
	if t.Endpoint != "" {
		data["endpoint"] = t.Endpoint
	}
	log := current.logger.Info
	fields := []zap.Field{zap.String("target", c.ID)}
	if !c.Healthy {
		name, data["class"] = eventUnhealthy, c.Class.String()
		fields = append(fields, zap.String("class", c.Class.String()))
		if !c.Until.IsZero() {
			data["until"] = c.Until.UTC().Format(time.RFC3339)
			fields = append(fields, zap.Time("until", c.Until))
		}
		if log = current.logger.Warn; c.Class == failover.Lasting {
			log = current.logger.Error
		}
	}
	log(name, fields...)
	s.Emit(name, data)
}

// providersUp is what the metric shows.
func (s *State) providersUp() (up []metrics.ProviderUp) {
	if current := s.generations.current(); current != nil {
		for _, t := range current.gateway.models.Targets(nil) {
			up = append(up, metrics.ProviderUp{Provider: t.Provider, Model: t.Model.ID, Endpoint: t.Endpoint, Up: !t.Unhealthy})
		}
	}
	return up
}

// Targets returns the health of those targets of this configuration whose models are allowed, ordered
// by id. A target has a record from its first call on. A nil allowed allows all.
func (m *Models) Targets(allowed func(model string) bool) (targets []Target) {
	for _, s := range m.health.Snapshot() {
		if t, ok := m.target(s.ID); ok && (allowed == nil || allowed(t.Model.ID)) {
			t.Status = s
			targets = append(targets, t)
		}
	}
	return targets
}

// target finds a target of this configuration by its id. ok is false if it is none or the catalog
// does not know its model. The name of a model may have an "@", too.
func (m *Models) target(id string) (t Target, ok bool) {
	if t, ok = m.targetAt(id, ""); ok {
		return t, true
	}
	if at := strings.LastIndexByte(id, '@'); at >= 0 {
		return m.targetAt(id[:at], id[at+1:])
	}
	return t, false
}

func (m *Models) targetAt(name, endpoint string) (t Target, ok bool) {
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
