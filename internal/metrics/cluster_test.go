package metrics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
)

func TestAClusterIsShownWhereThereIsOne(t *testing.T) {
	now, shared := metrics.Cluster{}, false
	c := metrics.NewClusterCollectors(func() (metrics.Cluster, bool) { return now, shared })
	registry := prometheus.NewPedanticRegistry()
	for _, part := range c.All() {
		registry.MustRegister(part)
	}
	if lines := gather(t, registry); len(lines) != 0 {
		t.Errorf("one gateway shows %q", lines)
	}
	shared = true
	now = metrics.Cluster{
		EngineUp: true, BreakerOpen: true, Nodes: 3, ClockOffset: -0.25, Outbox: 4, LeasesLost: 5, Reaped: 6, Recoveries: 7, Restored: 11, RowsWaiting: 8,
		SpoolBytes: 9, RowsDropped: 10, FeedBehind: 0.5,
	}
	c.Message("reserve", 2*time.Millisecond, true)
	c.Message("reserve", time.Second, false)
	want := []string{
		"cluster_clock_offset_seconds{} -0.25",
		"cluster_database_up{} 0",
		"cluster_engine_breaker_open{} 1",
		"cluster_engine_failures_total{message=reserve} 1",
		"cluster_engine_message_seconds{message=reserve} 2 in 1.002s",
		"cluster_engine_up{} 1",
		"cluster_feed_behind_seconds{} 0.5",
		"cluster_leases_lost_total{} 5",
		"cluster_nodes_reaped_total{} 6",
		"cluster_nodes{} 3",
		"cluster_outbox_length{} 4",
		"cluster_recoveries_total{} 7",
		"cluster_recovering{} 0",
		"cluster_rows_lost_total{} 10",
		"cluster_rows_waiting{} 8",
		"cluster_settlements_restored_total{} 11",
		"cluster_spool_bytes{} 9",
	}
	if got := strings.Join(gather(t, registry), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
}
