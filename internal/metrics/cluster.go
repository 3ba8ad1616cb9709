package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Cluster is what a scrape shows of gateways that serve as one. Counts are of this process.
type Cluster struct {
	EngineUp, DatabaseUp, Recovering, BreakerOpen bool
	Nodes                                         int     // whose leases live
	ClockOffset                                   float64 // seconds; the engine's clock minus that of this machine
	Outbox                                        int     // settlements that wait
	LeasesLost, Reaped, Recoveries                uint64
	Restored                                      uint64 // settlements that the engine had lost
	RowsWaiting                                   int
	SpoolBytes                                    int64
	RowsDropped                                   uint64 // that found no place to wait, or that the database does not take
	FeedBehind                                    float64
}

// ClusterCollectors show what a cluster has, and nothing without one.
type ClusterCollectors struct {
	messages *prometheus.HistogramVec
	failures *prometheus.CounterVec
	read     func() (Cluster, bool)
	values   []clusterValue
}

// clusterValue is a value that is read at each scrape.
type clusterValue struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(*Cluster) float64
}

// messageBuckets reach from a script on the same machine to the longest wait for a hard budget.
var messageBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}

// NewClusterCollectors returns collectors of what read returns, with false for no cluster.
func NewClusterCollectors(read func() (Cluster, bool)) *ClusterCollectors {
	value := func(name, help string, kind prometheus.ValueType, of func(*Cluster) float64) clusterValue {
		return clusterValue{prometheus.NewDesc(prometheus.BuildFQName(namespace, "cluster", name), help, nil, nil), kind, of}
	}
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	return &ClusterCollectors{
		read: read,
		messages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "cluster_engine_message_seconds", Buckets: messageBuckets,
			Help: "Time of messages to Valkey, by what they do, whether they succeeded or not.",
		}, []string{"message"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "cluster_engine_failures_total",
			Help: "Messages to Valkey without an answer, by what they do: it is away, or too slow.",
		}, []string{"message"}),
		values: []clusterValue{
			value("engine_up", "1 if Valkey answers this gateway, else 0.", gauge, func(c *Cluster) float64 { return Number(c.EngineUp) }),
			value("engine_breaker_open", "1 while Valkey is tried only once a second, because it was too slow.", gauge, func(c *Cluster) float64 { return Number(c.BreakerOpen) }),
			value("recovering", "1 while hard budgets wait until the nodes have said what Valkey may have lost.", gauge, func(c *Cluster) float64 { return Number(c.Recovering) }),
			value("recoveries_total", "Failovers, restarts and losses of Valkey after which this gateway said again what it knows.", counter, func(c *Cluster) float64 { return float64(c.Recoveries) }),
			value("settlements_restored_total", "Settlements that Valkey had lost in a failover, and that this gateway has said again.", counter, func(c *Cluster) float64 { return float64(c.Restored) }),
			value("nodes", "Gateways of the cluster whose leases live, this one too.", gauge, func(c *Cluster) float64 { return float64(c.Nodes) }),
			value("leases_lost_total", "How often this gateway was taken for dead and began again.", counter, func(c *Cluster) float64 { return float64(c.LeasesLost) }),
			value("nodes_reaped_total", "Dead gateways whose calls, places and sessions this one has cleared away.", counter, func(c *Cluster) float64 { return float64(c.Reaped) }),
			value("clock_offset_seconds", "Valkey's clock minus that of this machine.", gauge, func(c *Cluster) float64 { return c.ClockOffset }),
			value("outbox_length", "Settlements of calls that wait to be sent to Valkey.", gauge, func(c *Cluster) float64 { return float64(c.Outbox) }),
			value("database_up", "1 if PostgreSQL takes rows of this gateway, else 0.", gauge, func(c *Cluster) float64 { return Number(c.DatabaseUp) }),
			value("rows_waiting", "Rows of this gateway that are not in PostgreSQL yet.", gauge, func(c *Cluster) float64 { return float64(c.RowsWaiting) }),
			value("spool_bytes", "Rows on this machine's disk that wait for PostgreSQL.", gauge, func(c *Cluster) float64 { return float64(c.SpoolBytes) }),
			value("rows_lost_total", "Rows that found no place to wait for PostgreSQL, or that it does not take.", counter, func(c *Cluster) float64 { return float64(c.RowsDropped) }),
			value("feed_behind_seconds", "Time since this gateway last looked for changes of keys and workstations.", gauge, func(c *Cluster) float64 { return c.FeedBehind }),
		},
	}
}

// Describe implements prometheus.Collector.
func (c *ClusterCollectors) Describe(ch chan<- *prometheus.Desc) {
	for _, v := range c.values {
		ch <- v.desc
	}
}

// Collect implements prometheus.Collector.
func (c *ClusterCollectors) Collect(ch chan<- prometheus.Metric) {
	if c.read == nil {
		return
	}
	now, ok := c.read()
	if !ok {
		return
	}
	for _, v := range c.values {
		ch <- prometheus.MustNewConstMetric(v.desc, v.kind, v.of(&now))
	}
}

// All returns the collectors.
func (c *ClusterCollectors) All() []prometheus.Collector {
	return []prometheus.Collector{c.messages, c.failures, c}
}

// Message counts one message to Valkey. What it does is the name of a script or command.
func (c *ClusterCollectors) Message(name string, took time.Duration, answered bool) {
	c.messages.WithLabelValues(name).Observe(took.Seconds())
	if !answered {
		c.failures.WithLabelValues(name).Inc()
	}
}
