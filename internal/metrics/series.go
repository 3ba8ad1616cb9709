package metrics

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// series are the counters and histograms of calls that are alike. The collectors find each by its
// labels; here one look-up finds them all. They are few for each series of requests_total, which are
// never removed either.
type series struct {
	requests                       prometheus.Counter
	duration, firstToken, perToken prometheus.Observer // nil if such calls have none
	overhead                       prometheus.Observer // the same, and so on
	prompt, completion             prometheus.Counter
	cost, unpriced                 prometheus.Counter
	tool                           prometheus.Counter
	toolDuration                   prometheus.Observer
	operation                      prometheus.Observer
	input, output                  prometheus.Observer
}

// kind is what calls have in common whose series are the same.
type kind struct {
	route, provider, model, code string
	status                       int
	firstToken, perToken         bool
	prompt, completion           bool
	cost, unpriced               bool
	method                       string
	outcome                      ToolOutcome
	operation, operationProvider string
	counted                      bool
}

// seriesCache has the series of each kind of call that has ended.
type seriesCache struct {
	mu sync.RWMutex // guards the following
	of map[kind]*series
}

// seriesOf returns the series that a call belongs to. It makes no series that the call does not
// change: a scrape would show it.
func (c *calls) seriesOf(call *Call, perToken bool) *series {
	k := kind{
		call.Route, call.Provider, call.Model, call.Code, call.Status, call.FirstToken > 0, perToken,
		call.Prompt > 0, call.Completion > 0, call.CostNano > 0, call.Unpriced,
		call.Method, call.toolOutcome(), call.Operation.Name, call.Operation.Provider, call.Counted,
	}
	c.cache.mu.RLock()
	s := c.cache.of[k]
	c.cache.mu.RUnlock()
	if s != nil {
		return s
	}
	s = c.newSeries(&k)
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock()
	if c.cache.of == nil {
		c.cache.of = make(map[kind]*series)
	}
	c.cache.of[k] = s
	return s
}

func (c *calls) newSeries(k *kind) *series {
	s := &series{requests: c.requests.WithLabelValues(k.route, k.provider, k.model, strconv.Itoa(k.status), k.code)}
	if k.method != "" {
		s.tool = c.tools.requests.WithLabelValues(k.provider, k.method, string(k.outcome))
	}
	if k.provider == "" || k.outcome == ToolRefused {
		return s
	}
	if k.method != "" {
		s.toolDuration = c.tools.duration.WithLabelValues(k.provider, k.method)
	}
	s.duration = c.duration.WithLabelValues(k.route, k.provider)
	s.overhead = c.overhead.WithLabelValues(k.route)
	if k.firstToken {
		s.firstToken = c.firstToken.WithLabelValues(k.route, k.provider)
	}
	if k.perToken {
		s.perToken = c.perToken.WithLabelValues(k.route, k.provider)
	}
	if k.operation != "" {
		c.operations.addTo(s, k)
	}
	if k.prompt {
		s.prompt = c.tokens.WithLabelValues(k.provider, k.model, prompt)
	}
	if k.completion {
		s.completion = c.tokens.WithLabelValues(k.provider, k.model, completion)
	}
	if k.cost {
		s.cost = c.cost.WithLabelValues(k.provider, k.model)
	}
	if k.unpriced {
		s.unpriced = c.unpriced.WithLabelValues(k.provider, k.model)
	}
	return s
}

// The directions of tokens.
const (
	prompt     = "prompt"
	completion = "completion"
)
