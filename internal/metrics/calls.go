package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// calls are the collectors of requests that ended.
type calls struct {
	requests   *prometheus.CounterVec
	duration   *prometheus.HistogramVec
	firstToken *prometheus.HistogramVec
	perToken   *prometheus.HistogramVec
	overhead   *prometheus.HistogramVec
	tokens     *prometheus.CounterVec
	units      *prometheus.CounterVec
	cost       *prometheus.CounterVec
	unpriced   *prometheus.CounterVec
	tools      tools
	operations operations
	cache      seriesCache
}

var (
	// durationBuckets reach from a cached answer to the longest generation that an SDK waits for
	// (600 s).
	durationBuckets = []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}
	// perTokenBuckets reach from 200 tokens a second to one in 2.5 s.
	perTokenBuckets = []float64{.005, .01, .025, .05, .075, .1, .15, .2, .3, .5, 1, 2.5}
	// overheadBuckets reach from a plain call to one that waits for a disk or a moderator.
	overheadBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1}
)

func newCalls() calls {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	}
	histogram := func(name string, buckets []float64, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
	}
	return calls{
		requests: counter("requests_total",
			"Calls of authenticated callers that ended, by route, provider, model, HTTP status and machine code (empty for success).",
			"route", "provider", "model", "status", "code"),
		duration: histogram("request_duration_seconds", durationBuckets,
			"Time from the request's header to the end of the answer of calls that reached a provider.", "route", "provider"),
		firstToken: histogram("first_token_seconds", durationBuckets,
			"Time from the request's header to the first event of a stream.", "route", "provider"),
		perToken: histogram("time_per_output_token_seconds", perTokenBuckets,
			"Time from the first event of a stream to its end, for each completion token after the first; streams that succeeded and whose provider counted at least two.",
			"route", "provider"),
		overhead: histogram("overhead_seconds", overheadBuckets,
			"Time that calls spent in the gateway itself: not in a queue, and not waiting for the client or a provider; of a stream until its first event.",
			"route"),
		tokens: counter("tokens_total",
			"Tokens as reported by providers, by direction (prompt, completion).", "provider", "model", "direction"),
		units: counter("units_total",
			"What calls used besides tokens of text, by unit: search_units, images, characters, audio_ms, and tokens of sound and pictures, which are also in the tokens.",
			"provider", "model", "unit"),
		cost: counter("cost_usd_total",
			"What calls were charged, in USD; a call whose price is unknown is charged what it had reserved, or nothing.", "provider", "model"),
		unpriced: counter("unpriced_requests_total",
			"Calls that used tokens whose price is unknown.", "provider", "model"),
		tools:      newTools(),
		operations: newOperations(),
	}
}

func (c *calls) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		c.requests, c.duration, c.firstToken, c.perToken, c.overhead, c.tokens, c.units, c.cost, c.unpriced, c.tools.requests, c.tools.duration,
		c.operations.duration, c.operations.tokens,
	}
}

// Call is one ended call.
type Call struct {
	Route, Provider, Model, Tenant, Code string
	Status                               int
	Duration, FirstToken                 time.Duration // FirstToken 0 = no stream
	Overhead                             time.Duration
	Prompt, Completion                   int64 // tokens
	Units                                units.Counts
	Counted                              bool  // by the provider; else Completion is an estimate
	CostNano                             int64 // nano-USD
	Unpriced                             bool  // it used tokens whose price is unknown
	// Method is that of a request to an MCP server, which is the Provider; "" for others.
	Method string
	// IsError reports whether its tool has failed, Sent whether it was sent to the server.
	IsError, Sent bool
	Operation     Operation
	// TraceID becomes the exemplar of the call's durations. "": it is not traced.
	TraceID string
}

// perToken returns the time for each completion token after the first one. It is 0 if that is not
// known: the answer was no stream or failed, or the provider did not count its tokens.
func (c *Call) perToken() time.Duration {
	if c.FirstToken == 0 || c.Code != "" || !c.Counted || c.Completion < 2 {
		return 0
	}
	return max(c.Duration-c.FirstToken, 0) / time.Duration(c.Completion-1)
}

// Ended counts one call.
func (m *Metrics) Ended(c Call) {
	perToken := c.perToken()
	s := m.calls.seriesOf(&c, perToken > 0)
	s.requests.Inc()
	if s.duration != nil {
		observe(s.duration, c.Duration, c.TraceID)
		s.overhead.Observe(c.Overhead.Seconds())
	}
	if s.firstToken != nil {
		observe(s.firstToken, c.FirstToken, c.TraceID)
	}
	if s.tool != nil {
		s.tool.Inc()
	}
	if s.toolDuration != nil {
		observe(s.toolDuration, c.Duration, c.TraceID)
	}
	if s.perToken != nil {
		observe(s.perToken, perToken, c.TraceID)
	}
	if s.operation != nil {
		observe(s.operation, c.Operation.Duration, c.TraceID)
	}
	if s.input != nil {
		s.input.Observe(float64(c.Prompt))
		s.output.Observe(float64(c.Completion))
	}
	add(s.prompt, float64(c.Prompt))
	add(s.completion, float64(c.Completion))
	m.calls.addUnits(&c)
	usd := float64(c.CostNano) / 1e9
	add(s.cost, usd)
	add(s.unpriced, 1)
	if s.prompt != nil || s.completion != nil || s.cost != nil {
		m.tenants.of(c.Tenant).add(&c, usd)
	}
}

// addUnits counts units. Few calls use any.
func (c *calls) addUnits(call *Call) {
	for i, n := range call.Units {
		if n > 0 && call.Provider != "" {
			c.units.WithLabelValues(call.Provider, call.Model, units.Unit(i).String()).Add(float64(n))
		}
	}
}

// observe adds a duration. With a trace it is the exemplar of its bucket.
func observe(o prometheus.Observer, d time.Duration, trace string) {
	if trace == "" {
		o.Observe(d.Seconds())
		return
	}
	o.(prometheus.ExemplarObserver).ObserveWithExemplar(d.Seconds(), prometheus.Labels{"trace_id": trace})
}

// add adds to a counter that such calls may not have.
func add(c prometheus.Counter, value float64) {
	if c != nil {
		c.Add(value)
	}
}
