package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Queue is whose concurrency limit calls wait for.
type Queue string

// The queues: those of all keys together, and so on.
const (
	KeyQueue     Queue = "key"
	TenantQueue  Queue = "tenant"
	ModelQueue   Queue = "model"
	GatewayQueue Queue = "gateway"
	ServerQueue  Queue = "mcp" // of MCP servers
)

// QueueOf returns the queue in which the calls of a subject wait: "key:dev" is of the keys.
func QueueOf(subject string) Queue {
	kind, _, _ := strings.Cut(subject, ":")
	return Queue(kind)
}

var queues = [...]Queue{KeyQueue, TenantQueue, ModelQueue, GatewayQueue, ServerQueue}

// queueLength collects how many calls wait in each queue.
type queueLength struct {
	desc    *prometheus.Desc
	waiting func() map[Queue]int
}

func newQueueLength(waiting func() map[Queue]int) queueLength {
	return queueLength{prometheus.NewDesc(prometheus.BuildFQName(namespace, "queue", "length"),
		"Calls that wait for a concurrency slot, by whose limit was reached.", []string{"queue"}, nil), waiting}
}

// Describe implements prometheus.Collector.
func (q queueLength) Describe(ch chan<- *prometheus.Desc) { ch <- q.desc }

// Collect implements prometheus.Collector.
func (q queueLength) Collect(ch chan<- prometheus.Metric) {
	waiting := q.waiting()
	for _, queue := range queues {
		ch <- prometheus.MustNewConstMetric(q.desc, prometheus.GaugeValue, float64(waiting[queue]), string(queue))
	}
}

// MostBudgets bounds the budgets that a scrape shows: those with the highest ratio.
const MostBudgets = 500

// BudgetSpent is the state of a budget.
type BudgetSpent struct {
	Scope  string  // whose it is: "key:dev", "tenant:acme", "gateway"
	Budget string  // as configured: "10usd/day"
	Ratio  float64 // of what was spent to the limit
}

// budgetsSpent collects the fullest budgets.
type budgetsSpent struct {
	desc *prometheus.Desc
	list func() []BudgetSpent // at most MostBudgets
}

func newBudgetsSpent(list func() []BudgetSpent) budgetsSpent {
	return budgetsSpent{prometheus.NewDesc(prometheus.BuildFQName(namespace, "budget", "spent_ratio"),
		"Part of a configured budget that was spent in its present period, 1 for all of it; the 500 budgets with the highest ratio.",
		[]string{"budget", "scope"}, nil), list}
}

// Describe implements prometheus.Collector.
func (b budgetsSpent) Describe(ch chan<- *prometheus.Desc) { ch <- b.desc }

// Collect implements prometheus.Collector.
func (b budgetsSpent) Collect(ch chan<- prometheus.Metric) {
	for _, spent := range b.list() {
		ch <- prometheus.MustNewConstMetric(b.desc, prometheus.GaugeValue, spent.Ratio, spent.Budget, spent.Scope)
	}
}
