package gateway

import (
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
)

// The events of a target's health.
const (
	eventUnhealthy = "provider_unhealthy"
	eventHealthy   = "provider_healthy"
)

// healthChanged logs that a target became unhealthy or healthy, and emits the event. Callers can
// make up the names of other models than the catalog's: nobody waits for news of those.
func (s *State) healthChanged(c failover.Change) {
	current := s.generations.current()
	if current == nil {
		return
	}
	t, ok := current.gateway.models.Target(c.ID)
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

// credentialsLeft returns how long the credentials live that clouds gave; 0 for one that is
// missing.
func credentialsLeft(current *generation) (left []metrics.CredentialLeft) {
	if current == nil {
		return nil
	}
	for _, i := range current.gateway.models.Issued {
		if s := i.Status(); !s.Static {
			left = append(left, metrics.CredentialLeft{Provider: i.Provider, Endpoint: i.Endpoint, Seconds: s.Life.Seconds()})
		}
	}
	return left
}
