package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

func TestTroubleOfAClusterIsDegraded(t *testing.T) {
	since := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	calm := report.ClusterStatus{Name: "prod", Node: "gw-1.1", Nodes: []report.ClusterNode{{ID: "gw-1.1", SameRules: true}}}
	for _, p := range clusterParts(calm) {
		if p.State != report.PartOK || p.Detail != "" || p.Since != nil {
			t.Errorf("%+v", p)
		}
	}
	for name, trouble := range map[string]struct {
		change func(*report.ClusterStatus)
		part   string
		detail string
	}{
		"engine away": {func(c *report.ClusterStatus) {
			c.Engine.Error, c.Engine.Since, c.Engine.Outbox = "Valkey does not answer", &since, 7
		}, "engine",
			"Valkey does not answer; rates and calls at once are limited by this node's share, calls under a hard budget get ledger_unavailable, no desktop is opened; 7 settlements wait"},
		"fence":   {func(c *report.ClusterStatus) { c.Engine.Recovering, c.Engine.WaitingFor = true, []string{"gw-2.1"} }, "engine", "until these nodes have said what they know: gw-2.1"},
		"emptied": {func(c *report.ClusterStatus) { c.Engine.Recovering = true }, "engine", "until the balances are there again"},
		"unfit":   {func(c *report.ClusterStatus) { c.Engine.Unfit = "it has maxmemory-policy allkeys-lru" }, "engine", "hard budgets are shut: it has maxmemory-policy allkeys-lru"},
		"breaker": {func(c *report.ClusterStatus) { c.Engine.BreakerOpen = true }, "engine", "once a second"},
		"database": {func(c *report.ClusterStatus) {
			c.Database.Error, c.Database.Since, c.Database.Waiting = "PostgreSQL does not answer", &since, 3
		}, "database", "3 rows wait"},
		"spool": {func(c *report.ClusterStatus) {
			c.Database = report.DatabaseStatus{Error: "away", Spooled: 2, SpooledBytes: 100, Dropped: 1}
		}, "database", "2 batches (100 bytes) wait on disk, and 1 rows were dropped"},
		"clock":       {func(c *report.ClusterStatus) { c.Engine.ClockOffset = -5.5 }, "cluster", "5.5s from Valkey's"},
		"other rules": {func(c *report.ClusterStatus) { c.Nodes = append(c.Nodes, report.ClusterNode{ID: "gw-2.4"}) }, "cluster", "other limits in their configuration: gw-2.4"},
	} {
		c := calm
		c.Nodes = append([]report.ClusterNode{}, calm.Nodes...)
		trouble.change(&c)
		for _, p := range clusterParts(c) {
			switch {
			case p.Name != trouble.part && p.State != report.PartOK:
				t.Errorf("%s: %s is %s", name, p.Name, p.State)
			case p.Name == trouble.part && (p.State != report.PartDegraded || !strings.Contains(p.Detail, trouble.detail)):
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
}
