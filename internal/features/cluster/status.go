package cluster

import (
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// status returns what an operator should know of the cluster. It asks nobody.
func (s *shared) status() report.ClusterStatus {
	node := s.node.Status()
	status := report.ClusterStatus{Name: s.name, Node: node.ID, Engine: s.engineStatus(&node), Database: s.database(), Nodes: []report.ClusterNode{}}
	for _, n := range node.Nodes {
		status.Nodes = append(status.Nodes, report.ClusterNode{ID: n.ID, LeaseEnds: n.Ends, SameRules: !n.Differs})
	}
	return status
}

func (s *shared) engineStatus(node *cluster.Status) report.EngineStatus {
	e := report.EngineStatus{
		Epoch: node.Epoch, Recovering: node.Recovering, WaitingFor: append([]string{}, node.WaitingFor...), BreakerOpen: !node.Engine.Up,
		ClockOffset: node.ClockOffset.Seconds(), Outbox: s.ledger.Outbox(), LeasesLost: node.LeasesLost, Reaped: node.Reaped, Recoveries: node.Recoveries,
		Restored: s.ledger.Restored(),
	}
	if err := s.ledger.Distrusted(); err != nil {
		e.Unfit = err.Error()
	}
	switch {
	case !node.Engine.Up:
		e.Error, e.Since = node.Engine.Reason, timeOrNull(node.Engine.Since)
	case node.Err != nil:
		e.Error, e.Since = node.Err.Error(), timeOrNull(node.Since)
	}
	return e
}

// database returns the state of PostgreSQL.
func (s *shared) database() report.DatabaseStatus {
	rows, changes := s.writer.Status(), s.feed.Status()
	d := report.DatabaseStatus{
		Waiting: rows.Waiting, Spooled: rows.Spooled, SpooledBytes: rows.SpooledBytes, Dropped: rows.Dropped, Refused: rows.Refused, FeedSeq: changes.Seq,
	}
	read := changes.At
	if read.IsZero() {
		read = s.others.began
	}
	d.FeedBehind = time.Since(read).Seconds()
	switch {
	case rows.Err != nil:
		d.Error, d.Since = rows.Err.Error(), timeOrNull(rows.Since)
	case changes.Err != nil:
		d.Error, d.Since = changes.Err.Error(), &read
	}
	return d
}

// clockTolerance is how far the clock of a machine may be from the engine's before an operator
// should know. Limits use the engine's.
const clockTolerance = 5 * time.Second

// clusterParts are the states of what gateways share. None makes a gateway unavailable: without the
// engine or the database calls go on, and all gateways have the same ones.
func clusterParts(c report.ClusterStatus) []report.PartStatus {
	return []report.PartStatus{enginePart(c.Engine), databasePart(c.Database), nodesPart(c)}
}

func enginePart(e report.EngineStatus) report.PartStatus {
	p := report.PartStatus{Name: "engine", State: report.PartOK, Since: e.Since}
	switch {
	case e.Error != "":
		p.Detail = fmt.Sprintf("%s; rates and calls at once are limited by this node's share, "+
			"calls under a hard budget get ledger_unavailable, no desktop is opened; %d settlements wait", e.Error, e.Outbox)
	case e.Recovering && len(e.WaitingFor) > 0:
		p.Detail = "Valkey was restarted or replaced: hard budgets wait until these nodes have said what they know: " + strings.Join(e.WaitingFor, ", ")
	case e.Recovering:
		p.Detail = "Valkey was restarted, replaced or emptied: hard budgets wait until the balances are there again"
	case e.Unfit != "":
		p.Detail = "hard budgets are shut: " + e.Unfit
	case e.BreakerOpen:
		p.Detail = "Valkey was too slow: this node tries it once a second"
	default:
		return report.PartStatus{Name: "engine", State: report.PartOK}
	}
	p.State = report.PartDegraded
	return p
}

func databasePart(d report.DatabaseStatus) report.PartStatus {
	if d.Error == "" {
		return report.PartStatus{Name: "database", State: report.PartOK}
	}
	waits := fmt.Sprintf("%d rows wait", d.Waiting)
	if d.SpooledBytes > 0 {
		waits = fmt.Sprintf("%d batches (%d bytes) wait on disk", d.Spooled, d.SpooledBytes)
	}
	if d.Dropped > 0 {
		waits += fmt.Sprintf(", and %d rows were dropped", d.Dropped)
	}
	return report.PartStatus{
		Name: "database", State: report.PartDegraded, Since: d.Since,
		Detail: d.Error + "; calls go on, keys and workstations cannot be changed; " + waits,
	}
}

// nodesPart is about this gateway among the others.
func nodesPart(c report.ClusterStatus) report.PartStatus {
	p := report.PartStatus{Name: "cluster", State: report.PartDegraded}
	if offset := time.Duration(c.Engine.ClockOffset * float64(time.Second)); offset.Abs() > clockTolerance {
		p.Detail = fmt.Sprintf("the clock of this machine is %s from Valkey's: correct it", offset.Abs().Round(time.Millisecond))
		return p
	}
	var others []string
	for _, n := range c.Nodes {
		if !n.SameRules {
			others = append(others, n.ID)
		}
	}
	if len(others) > 0 {
		p.Detail = "these nodes have other limits in their configuration: " + strings.Join(others, ", ")
		return p
	}
	return report.PartStatus{Name: "cluster", State: report.PartOK}
}

// values are what a scrape shows of the cluster; false without one.
func (k *kept) values() (metrics.Cluster, bool) {
	s := k.shared.Load()
	if s == nil {
		return metrics.Cluster{}, false
	}
	c := s.status()
	e, d := &c.Engine, &c.Database
	return metrics.Cluster{
		EngineUp: e.Error == "", DatabaseUp: d.Error == "", Recovering: e.Recovering, BreakerOpen: e.BreakerOpen,
		Nodes: len(c.Nodes), ClockOffset: e.ClockOffset, Outbox: e.Outbox,
		LeasesLost: e.LeasesLost, Reaped: e.Reaped, Recoveries: e.Recoveries, Restored: e.Restored,
		RowsWaiting: d.Waiting, SpoolBytes: d.SpooledBytes, RowsDropped: d.Dropped + d.Refused, FeedBehind: d.FeedBehind,
	}, true
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
