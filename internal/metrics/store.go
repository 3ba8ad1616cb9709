package metrics

import "github.com/prometheus/client_golang/prometheus"

// store are the collectors of the database and of the ledger in it.
type store struct {
	commits      prometheus.Histogram
	errors       prometheus.Counter
	ledgerErrors prometheus.Counter
}

// commitBuckets reach from a group on a fast disk to a database that another process has locked.
var commitBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

func newStore() store {
	return store{
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: "store_commit_seconds", Buckets: commitBuckets,
			Help: "Time of one group commit to the database, whether it succeeded or not.",
		}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "store_errors_total",
			Help: "Attempts to write to the database, or to its redo log, that failed; one a second while that lasts.",
		}),
		ledgerErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "ledger_errors_total",
			Help: "Calls whose budgets could not be looked up, reserved from or charged because the ledger failed.",
		}),
	}
}

func (s *store) collectors() []prometheus.Collector {
	return []prometheus.Collector{s.commits, s.errors, s.ledgerErrors}
}
