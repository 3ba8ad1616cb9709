package metrics

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// mostTenants bounds the tenants that have series of their own, and so the size of a scrape.
	mostTenants = 500
	// otherTenants is the label of all further ones.
	otherTenants = "other"
)

// tenants are the collectors of what tenants use. The first tenants keep their series for the life
// of the process.
type tenants struct {
	cost   *prometheus.CounterVec
	tokens *prometheus.CounterVec

	mu     sync.Mutex // of those who replace the map
	series atomic.Pointer[map[string]*tenantSeries]
	other  *tenantSeries
}

type tenantSeries struct{ cost, prompt, completion prometheus.Counter }

func newTenants() *tenants {
	t := &tenants{
		cost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "tenant_cost_usd_total",
			Help: "What calls of a tenant were charged, in USD; the first 500 tenants, the others together as \"other\".",
		}, []string{"tenant"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "tenant_tokens_total",
			Help: "Tokens of calls of a tenant, by direction (prompt, completion); the first 500 tenants, the others together as \"other\".",
		}, []string{"tenant", "direction"}),
	}
	t.other = t.newSeries(otherTenants)
	return t
}

func (t *tenants) collectors() []prometheus.Collector {
	return []prometheus.Collector{t.cost, t.tokens}
}

func (t *tenants) newSeries(name string) *tenantSeries {
	return &tenantSeries{t.cost.WithLabelValues(name), t.tokens.WithLabelValues(name, prompt), t.tokens.WithLabelValues(name, completion)}
}

// of returns the series of a tenant. It takes no lock for a tenant that it knows, nor for one that
// has none of its own.
func (t *tenants) of(name string) *tenantSeries {
	if s, full := t.find(name); s != nil || full {
		return orOther(s, t.other)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s, full := t.find(name)
	if s != nil || full {
		return orOther(s, t.other)
	}
	known := map[string]*tenantSeries{}
	if old := t.series.Load(); old != nil {
		known = maps.Clone(*old)
	}
	s = t.newSeries(name)
	known[name] = s
	t.series.Store(&known)
	return s
}

// find returns the series of a tenant, nil if it has none. full says that it gets none.
func (t *tenants) find(name string) (s *tenantSeries, full bool) {
	known := t.series.Load()
	if known == nil {
		return nil, false
	}
	return (*known)[name], len(*known) >= mostTenants
}

func orOther(s, other *tenantSeries) *tenantSeries {
	if s == nil {
		return other
	}
	return s
}

func (s *tenantSeries) add(c *Call, usd float64) {
	s.cost.Add(usd)
	s.prompt.Add(float64(c.Prompt))
	s.completion.Add(float64(c.Completion))
}
