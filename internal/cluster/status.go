package cluster

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
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
	WaitingFor  []string      // nodes that have still to say what they know, by name
	ClockOffset time.Duration // the engine's clock minus that of this machine
	Nodes       []NodeStatus  // whose leases live, by ID

	Engine valkey.Stats  // the connection
	Server valkey.Server // the zero value until it was asked

	LeasesLost uint64 // how often this node was taken for dead
	Reaped     uint64 // dead nodes that this one has cleared away
	Recoveries uint64 // how often this node has said again what the engine may have lost
}

// NodeStatus is a node whose lease lives.
type NodeStatus struct {
	ID     string
	Since  time.Time // it has had a lease, by the clock of the engine
	Ends   time.Time // of the lease, by the clock of the engine
	Config string    // hash of its limits
	// Differs says that its limits have not been those of this node for more than one beat.
	Differs bool
}

// counts are of this process.
type counts struct{ leasesLost, reaped, recoveries atomic.Uint64 }

// Status returns the present status. It asks nobody.
func (n *Node) Status() Status {
	engine := n.config.Engine.Stats()
	n.mu.Lock()
	defer n.mu.Unlock()
	s := Status{
		ID: n.state.id, Err: n.state.failure, Since: n.state.since, Epoch: n.state.epoch, Recovering: n.state.leased && n.state.replay,
		ClockOffset: n.clock.ahead(), Engine: engine, Server: n.state.server,
		LeasesLost: n.counts.leasesLost.Load(), Reaped: n.counts.reaped.Load(), Recoveries: n.counts.recoveries.Load(),
	}
	if s.Recovering {
		s.WaitingFor = slices.Sorted(slices.Values(n.state.waiting))
	}
	for _, p := range n.state.last.peers {
		s.Nodes = append(s.Nodes, NodeStatus{ID: p.id, Since: p.since, Ends: p.end, Config: p.config, Differs: n.state.differs[NameOf(p.id)] > 1})
	}
	slices.SortFunc(s.Nodes, func(a, b NodeStatus) int { return strings.Compare(a.ID, b.ID) })
	return s
}

// compare counts the beats at which a node had other limits. It returns those with whom they differ
// for more than one beat, once: limits are changed on one node after the other. A node that starts has
// none yet.
func (v *view) compare(own string) (differ []string) {
	before := v.differs
	v.differs = map[string]int{}
	for _, p := range v.last.peers {
		if p.config != own && p.config != "" && own != "" {
			n := before[NameOf(p.id)] + 1
			if v.differs[NameOf(p.id)] = n; n == 2 {
				differ = append(differ, NameOf(p.id))
			}
		}
	}
	return differ
}

// inspect asks the engine what it is, when it is another one.
func (n *Node) inspect(ctx context.Context) {
	n.mu.Lock()
	replication, known := n.state.last.replication, n.state.inspected
	n.mu.Unlock()
	if replication == known {
		return
	}
	server, err := n.config.Engine.Inspect(ctx, n.tag)
	if err != nil {
		return // it is asked at the next beat
	}
	inspected := replication
	if n.config.Judge(server) != nil {
		inspected = "" // it is asked again at the next beat
	}
	n.mu.Lock()
	changed := n.state.server != server
	n.state.server, n.state.inspected = server, inspected
	n.mu.Unlock()
	if !changed {
		return
	}
	n.config.Logger.Info("the engine of the cluster", zap.String("address", server.Address), zap.String("program", server.Program),
		zap.String("version", server.Version), zap.String("replication", replication))
}
