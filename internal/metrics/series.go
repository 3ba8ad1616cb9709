package metrics

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// series are the counters and histograms of calls that are alike. The collectors find each by its
// labels; here one look-up finds them all. There are at most eight for each series of
// requests_total, which are never removed either.
type series struct {
	requests             prometheus.Counter
	duration, firstToken prometheus.Observer // nil if such calls have none
	prompt, completion   prometheus.Counter  // the same
}

// kind is what calls have in common whose series are the same.
type kind struct {
	route, provider, model, code   string
	status                         int
	firstToken, prompt, completion bool
}

// seriesCache has the series of each kind of call that has ended.
type seriesCache struct {
	mu sync.RWMutex // guards the following
	of map[kind]*series
}

// seriesOf returns the series that c belongs to. It makes no series that c does not change: a scrape
// would show it.
func (m *Metrics) seriesOf(c *Call) *series {
	k := kind{c.Route, c.Provider, c.Model, c.Code, c.Status, c.FirstToken > 0, c.Prompt > 0, c.Completion > 0}
	m.cache.mu.RLock()
	s := m.cache.of[k]
	m.cache.mu.RUnlock()
	if s != nil {
		return s
	}
	s = &series{requests: m.requests.WithLabelValues(c.Route, c.Provider, c.Model, strconv.Itoa(c.Status), c.Code)}
	if c.Provider != "" {
		s.duration = m.duration.WithLabelValues(c.Route, c.Provider)
		if k.firstToken {
			s.firstToken = m.firstToken.WithLabelValues(c.Route, c.Provider)
		}
		if k.prompt {
			s.prompt = m.tokens.WithLabelValues(c.Provider, c.Model, "prompt")
		}
		if k.completion {
			s.completion = m.tokens.WithLabelValues(c.Provider, c.Model, "completion")
		}
	}
	m.cache.mu.Lock()
	defer m.cache.mu.Unlock()
	if m.cache.of == nil {
		m.cache.of = make(map[kind]*series)
	}
	m.cache.of[k] = s
	return s
}
