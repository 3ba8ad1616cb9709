package gateway

import (
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
)

// ClusterStatus is what an operator learns of the cluster of a gateway, as this gateway sees it.
type ClusterStatus struct {
	Name     string         `json:"name"`
	Node     string         `json:"node"` // this gateway: its name and its incarnation
	Engine   EngineStatus   `json:"engine"`
	Database DatabaseStatus `json:"database"`
	Nodes    []ClusterNode  `json:"nodes"` // whose leases live, by name
}

// EngineStatus is the state of Valkey. Counts are of this process.
type EngineStatus struct {
	Error       string     `json:"error"` // why it does not answer; "" if it does
	Since       *time.Time `json:"since"` // of the error
	BreakerOpen bool       `json:"breaker_open"`
	// Epoch is the replication ID under which the ledger is whole. Recovering says that the engine has
	// another, and WaitingFor which nodes have still to say what they know.
	Epoch       string   `json:"epoch"`
	Recovering  bool     `json:"recovering"`
	WaitingFor  []string `json:"waiting_for"`
	ClockOffset float64  `json:"clock_offset_seconds"` // the engine's clock minus that of this machine
	Outbox      int      `json:"outbox"`               // settlements that wait to be sent
	Unfit       string   `json:"unfit"`                // the settings for which hard budgets are shut; "" for none
	LeasesLost  uint64   `json:"leases_lost"`          // how often this node was taken for dead
	Reaped      uint64   `json:"reaped"`               // dead nodes that this one has cleared away
	Recoveries  uint64   `json:"recoveries"`           // of the ledger, after a failover or restart
	Restored    uint64   `json:"restored"`             // settlements that the engine had lost
}

// DatabaseStatus is the state of PostgreSQL. Counts are of this process.
type DatabaseStatus struct {
	Error        string     `json:"error"`         // why rows cannot be written; "" if they can
	Since        *time.Time `json:"since"`         // of the error
	Waiting      int        `json:"waiting"`       // rows that are not in the database yet
	Spooled      int        `json:"spooled"`       // batches that wait on this machine's disk
	SpooledBytes int64      `json:"spooled_bytes"` // their size
	Dropped      uint64     `json:"dropped"`       // rows that found no place to wait
	Refused      uint64     `json:"refused"`       // rows that the database does not take
	FeedSeq      int64      `json:"feed_seq"`      // the last change of keys and workstations that is known here
	FeedBehind   float64    `json:"feed_behind_seconds"`
}

// ClusterNode is a gateway of the cluster.
type ClusterNode struct {
	ID        string    `json:"id"`
	LeaseEnds time.Time `json:"lease_ends"`
	SameRules bool      `json:"same_limits"` // its limits are those of this gateway
}

// ReadCluster returns the state of the cluster. It asks nobody: the state is that of the last beat.
func ReadCluster(g *Gateway) (ClusterStatus, error) {
	status, ok := g.state.stores.clusterStatus()
	if !ok {
		return status, apierror.New(apierror.NotFound, "this gateway is the only one: its configuration has no cluster block")
	}
	return status, nil
}

// status returns what an operator should know of the cluster. It asks nobody.
func (s *shared) status() ClusterStatus {
	node := s.node.Status()
	status := ClusterStatus{Name: s.name, Node: node.ID, Engine: s.engineStatus(&node), Database: s.database(), Nodes: []ClusterNode{}}
	for _, n := range node.Nodes {
		status.Nodes = append(status.Nodes, ClusterNode{ID: n.ID, LeaseEnds: n.Ends, SameRules: !n.Differs})
	}
	return status
}

func (s *shared) engineStatus(node *cluster.Status) EngineStatus {
	e := EngineStatus{
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
func (s *shared) database() DatabaseStatus {
	rows, changes := s.writer.Status(), s.feed.Status()
	d := DatabaseStatus{
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

// clusterStatus returns the state of the cluster; false without one.
func (s *stores) clusterStatus() (ClusterStatus, bool) {
	shared := s.clustered.Load()
	if shared == nil {
		return ClusterStatus{}, false
	}
	return shared.status(), true
}

// clockTolerance is how far the clock of a machine may be from the engine's before an operator should
// know. Limits use the engine's.
const clockTolerance = 5 * time.Second

// clusterParts are the states of what gateways share. None makes a gateway unavailable: without the
// engine or the database calls go on, and all gateways have the same ones.
func clusterParts(c ClusterStatus) []Part {
	return []Part{enginePart(c.Engine), databasePart(c.Database), nodesPart(c)}
}

func enginePart(e EngineStatus) Part {
	p := Part{Name: "engine", State: PartOK, Since: e.Since}
	switch {
	case e.Error != "":
		p.Detail = fmt.Sprintf("%s; rates and calls at once are limited by this node's share, calls under a hard budget get ledger_unavailable, no desktop is opened; %d settlements wait", e.Error, e.Outbox)
	case e.Recovering && len(e.WaitingFor) > 0:
		p.Detail = "Valkey was restarted or replaced: hard budgets wait until these nodes have said what they know: " + strings.Join(e.WaitingFor, ", ")
	case e.Recovering:
		p.Detail = "Valkey was restarted, replaced or emptied: hard budgets wait until the balances are there again"
	case e.Unfit != "":
		p.Detail = "hard budgets are shut: " + e.Unfit
	case e.BreakerOpen:
		p.Detail = "Valkey was too slow: this node tries it once a second"
	default:
		return Part{Name: "engine", State: PartOK}
	}
	p.State = PartDegraded
	return p
}

func databasePart(d DatabaseStatus) Part {
	if d.Error == "" {
		return Part{Name: "database", State: PartOK}
	}
	waits := fmt.Sprintf("%d rows wait", d.Waiting)
	if d.SpooledBytes > 0 {
		waits = fmt.Sprintf("%d batches (%d bytes) wait on disk", d.Spooled, d.SpooledBytes)
	}
	if d.Dropped > 0 {
		waits += fmt.Sprintf(", and %d rows were dropped", d.Dropped)
	}
	return Part{Name: "database", State: PartDegraded, Since: d.Since, Detail: d.Error + "; calls go on, keys and workstations cannot be changed; " + waits}
}

// nodesPart is about this gateway among the others.
func nodesPart(c ClusterStatus) Part {
	p := Part{Name: "cluster", State: PartDegraded}
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
	return Part{Name: "cluster", State: PartOK}
}

// clusterGauges are what a scrape shows of the cluster.
func (s *stores) clusterGauges() (metrics.Cluster, bool) {
	c, ok := s.clusterStatus()
	e, d := &c.Engine, &c.Database
	return metrics.Cluster{
		EngineUp: e.Error == "", DatabaseUp: d.Error == "", Recovering: e.Recovering, BreakerOpen: e.BreakerOpen,
		Nodes: len(c.Nodes), ClockOffset: e.ClockOffset, Outbox: e.Outbox, LeasesLost: e.LeasesLost, Reaped: e.Reaped, Recoveries: e.Recoveries, Restored: e.Restored,
		RowsWaiting: d.Waiting, SpoolBytes: d.SpooledBytes, RowsDropped: d.Dropped + d.Refused, FeedBehind: d.FeedBehind,
	}, ok
}
