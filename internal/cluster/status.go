package cluster

import (
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// The states of a node.
const (
	StateWhole      = "whole"
	StateNoLease    = "no_lease"
	StateRecovering = "recovering" // hard budgets wait
	StateRejoining  = "rejoining"
)

// Status is how a node and its cluster are, for operators.
type Status struct {
	Cluster string       `json:"cluster"`
	Node    string       `json:"node"`
	ID      string       `json:"id"`
	State   string       `json:"state"`
	Engine  EngineStatus `json:"engine"`
	Nodes   []NodeStatus `json:"nodes"` // as the last beat has said
	Beat    time.Time    `json:"beat"`  // the last one that was answered
	Failure string       `json:"failure,omitempty"`
	// ClockAhead is how far the engine's clock is ahead of this machine's, in milliseconds.
	ClockAhead int64 `json:"clock_ahead_ms"`

	// Of this process.
	LeasesLost uint64 `json:"leases_lost"` // how often this node was taken for dead
	Reaped     uint64 `json:"reaped"`      // dead nodes that this one has cleared away
	Recoveries uint64 `json:"recoveries"`  // how often it has said again what the engine may have lost
}

// counts are of this process.
type counts struct{ leasesLost, reaped, recoveries atomic.Uint64 }

// EngineStatus is how this node sees the engine.
type EngineStatus struct {
	valkey.Server
	Up          bool      `json:"up"`
	Since       time.Time `json:"since"` // it is up, or down
	Reason      string    `json:"reason,omitempty"`
	UnderWay    int       `json:"under_way"` // messages that wait for an answer
	Replication string    `json:"replication"`
	Epoch       string    `json:"epoch"` // the replication ID for which the ledger is whole
}

// NodeStatus is a node whose lease lives.
type NodeStatus struct {
	Name  string        `json:"name"`
	ID    string        `json:"id"`
	Since time.Time     `json:"since"`   // it has its lease, on the engine's clock
	Lease time.Duration `json:"-"`       // until it ends
	Left  float64       `json:"lease_s"` // the same in seconds
	// Differs: its limits are not those of this node, and have not been for more than one beat.
	Differs bool `json:"differs"`
}

// Status returns how the node is at present.
func (n *Node) Status() Status {
	engine := n.config.Engine.Stats()
	now := n.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	s := Status{
		Cluster: n.config.Name, Node: n.config.Node, ID: n.state.id, State: n.state.word(), Beat: n.state.at,
		ClockAhead: n.clock.ahead().Milliseconds(),
		Engine: EngineStatus{
			Server: n.state.server, Up: engine.Up, Since: engine.Since, Reason: engine.Reason, UnderWay: engine.UnderWay,
			Replication: n.state.last.replication, Epoch: n.state.last.epoch,
		},
		LeasesLost: n.counts.leasesLost.Load(), Reaped: n.counts.reaped.Load(), Recoveries: n.counts.recoveries.Load(),
	}
	if n.state.failure != nil {
		s.Failure = n.state.failure.Error()
	}
	for _, p := range n.state.last.peers {
		left := max(p.end.Sub(now), 0)
		s.Nodes = append(s.Nodes, NodeStatus{
			Name: name(p.id), ID: p.id, Since: p.since, Lease: left, Left: left.Seconds(), Differs: n.state.differs[name(p.id)] > 1,
		})
	}
	return s
}

// word says what a node waits for.
func (s *state) word() string {
	switch {
	case !s.leased:
		return StateNoLease
	case s.replay:
		return StateRecovering
	case s.rejoin:
		return StateRejoining
	}
	return StateWhole
}

// compare counts the beats at which a node had other limits. It returns those with whom they differ
// for more than one beat, once: limits are changed on one node after the other.
func (v *view) compare(own string) (differ []string) {
	before := v.differs
	v.differs = map[string]int{}
	for _, p := range v.last.peers {
		if p.config != own {
			n := before[name(p.id)] + 1
			if v.differs[name(p.id)] = n; n == 2 {
				differ = append(differ, name(p.id))
			}
		}
	}
	return differ
}

// inspect asks the engine what it is, when it is another one.
func (n *Node) inspect(ctx context.Context) {
	n.mu.Lock()
	id, known := n.state.last.replication, n.state.inspected
	n.mu.Unlock()
	if id == known {
		return
	}
	server, err := n.config.Engine.Inspect(ctx, n.tag)
	if err != nil {
		return // it is asked at the next beat
	}
	n.mu.Lock()
	n.state.server, n.state.inspected = server, id
	n.mu.Unlock()
	n.config.Logger.Info("the engine of the cluster", zap.String("address", server.Address), zap.String("program", server.Program),
		zap.String("version", server.Version), zap.String("replication", id))
}
