package cluster

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Status is what an operator should know of a node: how it was at its last beat. Counts are of this
// process.
type Status struct {
	ID    string
	Err   error     // why the lease cannot be renewed; nil: it is
	Since time.Time // when that began, or when it last ended
	Epoch string    // of the engine, as this node has replayed for it
	// Recovering says that the engine may have lost something: hard budgets are shut.
	Recovering  bool
	ClockOffset time.Duration // the engine's clock minus that of this machine
	Nodes       []NodeStatus  // whose leases live, by ID

	LeasesLost uint64 // how often this node was taken for dead
	Reaped     uint64 // dead nodes that this one has cleared away
	Recoveries uint64 // how often this node has said again what the engine may have lost
}

// NodeStatus is a node whose lease lives.
type NodeStatus struct {
	ID     string
	Ends   time.Time // of the lease, by the clock of the engine
	Config string    // hash of its limits
}

// counts are of this process.
type counts struct{ leasesLost, reaped, recoveries atomic.Uint64 }

// Status returns the present status. It asks nobody.
func (n *Node) Status() Status {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := Status{
		ID: n.state.id, Err: n.state.failure, Since: n.state.since, Epoch: n.state.epoch, Recovering: n.state.leased && n.state.replay,
		ClockOffset: n.clock.ahead(),
		LeasesLost:  n.counts.leasesLost.Load(), Reaped: n.counts.reaped.Load(), Recoveries: n.counts.recoveries.Load(),
	}
	for _, p := range n.state.last.peers {
		s.Nodes = append(s.Nodes, NodeStatus{ID: p.id, Ends: p.end, Config: p.config})
	}
	slices.SortFunc(s.Nodes, func(a, b NodeStatus) int { return strings.Compare(a.ID, b.ID) })
	return s
}
