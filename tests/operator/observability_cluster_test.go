package operator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
)

// clusterPage has the metrics that only gateways of a cluster show.
func clusterPage(t *testing.T) string {
	t.Helper()
	c := metrics.NewClusterCollectors(func() (metrics.Cluster, bool) { return metrics.Cluster{}, true })
	c.Message("beat", time.Millisecond, false)
	var text strings.Builder
	shown := prometheus.NewRegistry()
	for _, part := range c.All() {
		shown.MustRegister(part)
	}
	all, err := shown.Gather()
	if err != nil || len(all) < 10 {
		t.Fatal(len(all), err)
	}
	for _, f := range all {
		fmt.Fprintf(&text, "# TYPE %s %s\n", f.GetName(), strings.ToLower(f.GetType().String()))
		for _, l := range f.GetMetric()[0].GetLabel() {
			fmt.Fprintf(&text, "%s{%s=\"x\"} 1\n", f.GetName(), l.GetName())
		}
	}
	return text.String()
}
