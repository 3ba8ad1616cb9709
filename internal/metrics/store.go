package metrics

import "github.com/prometheus/client_golang/prometheus"

// store are the collectors of the database and of the ledger in it.
type store struct {
	commits      prometheus.Histogram
	ledgerErrors prometheus.Counter
	lost         prometheus.CounterFunc
	queue        prometheus.GaugeFunc
}

// commitBuckets reach from a group on a fast disk to a database that another process has locked.
var commitBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

func newStore(g Gauges) store {
	return store{
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: "store_commit_seconds", Buckets: commitBuckets,
			Help: "Time of one group commit to the database, whether it succeeded or not.",
		}),
		ledgerErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "ledger_errors_total",
			Help: "Calls whose budgets could not be looked up, reserved from or charged because the ledger failed.",
		}),
		lost: prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Name: "activity_rows_lost_total",
			Help: "Activity rows dropped because the store could not keep up.",
		}, g.ActivityLost),
		queue: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "store_queue_length",
			Help: "Rows and amounts that wait to be written to the database.",
		}, g.StoreQueue),
	}
}

func (s *store) collectors() []prometheus.Collector {
	return []prometheus.Collector{s.commits, s.ledgerErrors, s.lost, s.queue}
}
