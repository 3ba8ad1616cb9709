// Package cluster makes several gateways one. They share an engine (Valkey or Redis) for what admits
// calls and desktops, and PostgreSQL for what is kept. Nothing here elects, gossips or replicates.
//
//	node := cluster.New(cluster.Config{Name: "prod", Node: "gw-1", Engine: client})
//	node.Join(cluster.Part{Name: "concurrency", Rejoin: …, Reap: …})
//	err := node.Start(ctx)
//	reply, err := node.Run(ctx, script, args...)
//	node.Stop()
//
// A node has a lease of 15 seconds, which it renews every two. When it ends, another node takes over
// what the node held: places, sessions, calls under way. A node whose lease has ended goes on with a
// new ID.
package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

const (
	// leaseTime is how long a node counts as alive after its last beat.
	leaseTime = 15 * time.Second
	// beatInterval is the time between two beats.
	beatInterval = 2 * time.Second
)

// Errors of Run. The script has changed nothing. The node does what is needed by itself.
var (
	ErrLeaseLost = errors.New("this node was taken for dead") // it goes on with a new ID
	ErrFenced    = errors.New("the nodes have to say again what they know")
	ErrClock     = errors.New("the clock of this node is wrong")
)

// Errors of Start.
var (
	// ErrLayout means that a newer program has changed the keys of the cluster.
	ErrLayout = errors.New("the cluster is used by a newer version of this program")
	// ErrNameTaken means that another process has the name of this node, and is alive.
	ErrNameTaken = errors.New("another gateway with the same node name is alive: each needs a name of its own")
)

// Config is what a node is.
type Config struct {
	Name   string // of the cluster; in the names of all its keys
	Node   string // the name of this gateway, of no other
	Engine *valkey.Client
	Logger *zap.Logger
	// Hash is that of the limits of this node. A difference between nodes is logged. It may be nil.
	Hash func() string
	// Judge is told what the engine is, each time when it is another one. After an error it is told
	// again at the next beat. It may be nil.
	Judge func(valkey.Server) error
	// Expected says how many nodes there are by another source than the engine, with this one; 0: it
	// is not known. It may be nil.
	Expected func() int

	// For tests.
	Now   func() time.Time // the clock of the engine; nil: it is asked
	Lease time.Duration    // 0: 15 s
	Beat  time.Duration    // 0: 2 s
}

// Node is this gateway among the nodes of a cluster. It is safe for concurrent use.
type Node struct {
	events
	config  Config
	tag     string
	process string // random: tells two processes of the same name
	parts   parts
	clock   *clock
	counts  counts
	beatNow chan struct{} // a beat is due
	work    chan struct{} // something has to be healed

	running sync.WaitGroup
	stop    context.CancelFunc

	mu    sync.Mutex // guards the following
	state state
}

// New returns a node that has not started.
func New(c Config) *Node {
	c.Lease, c.Beat = cmp.Or(c.Lease, leaseTime), cmp.Or(c.Beat, beatInterval)
	if c.Hash == nil {
		c.Hash = func() string { return "" }
	}
	if c.Judge == nil {
		c.Judge = func(valkey.Server) error { return nil }
	}
	if c.Expected == nil {
		c.Expected = func() int { return 0 }
	}
	tag := "{gh:" + c.Name + "}"
	n := &Node{
		events: events{engine: c.Engine, key: tag + "ev", heard: map[string][]func(string){}},
		config: c, tag: tag, process: rand.Text(), clock: newClock(),
		beatNow: make(chan struct{}, 1), work: make(chan struct{}, 1), stop: func() {},
		state: state{id: c.Node + ".0", ready: make(chan struct{})},
	}
	n.On(eventEntered, func(node string) {
		if node != c.Node {
			wake(n.beatNow)
		}
	})
	return n
}

// Join adds a part. It must be called before Start.
func (n *Node) Join(p Part) { n.parts = append(n.parts, p) }

// ID is the name of this node in the engine. It changes when the lease was lost.
func (n *Node) ID() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state.id
}

// Key returns the name of a key in the engine.
func (n *Node) Key(name string) string { return n.tag + name }

// Engine returns the connection to the engine, for what needs no script.
func (n *Node) Engine() *valkey.Client { return n.config.Engine }

// Run runs a script of NewScript. Besides [valkey.ErrUnavailable] and errors of the script itself it
// returns ErrLeaseLost, ErrFenced and ErrClock.
func (n *Node) Run(ctx context.Context, s *valkey.Script, args ...string) (valkey.Reply, error) {
	n.mu.Lock()
	id, epoch := n.state.id, n.state.epoch
	n.mu.Unlock()
	reply, err := n.send(ctx, s, id, epoch, args)
	if err != nil && !errors.Is(err, valkey.ErrUnavailable) {
		n.notice(err, id, epoch)
	}
	return reply, err
}

// send runs a script under an ID.
func (n *Node) send(ctx context.Context, s *valkey.Script, id, epoch string, args []string) (valkey.Reply, error) {
	now := ""
	if n.config.Now != nil {
		now = strconv.FormatInt(n.config.Now().UnixMicro(), 10)
	}
	reply, err := n.config.Engine.Run(ctx, s, []string{n.tag}, append([]string{id, epoch, now}, args...))
	return reply, explain(err)
}

// explain returns the error that an error reply of a script stands for.
func explain(err error) error {
	if err == nil || errors.Is(err, valkey.ErrUnavailable) {
		return err
	}
	code, _, _ := strings.Cut(err.Error(), " ")
	switch code {
	case "LEASE_LOST":
		return fmt.Errorf("%w: %w", ErrLeaseLost, err)
	case "FENCED", "REPLAY":
		return fmt.Errorf("%w: %w", ErrFenced, err)
	case "CLOCK":
		return fmt.Errorf("%w: %w", ErrClock, err)
	case "LAYOUT":
		return fmt.Errorf("%w: %w", ErrLayout, err)
	case "TAKEN":
		return ErrNameTaken
	}
	return err
}

// Await waits until scripts that need a lease and a whole ledger can run. It is what a caller does
// after ErrLeaseLost or ErrFenced, before it asks again.
func (n *Node) Await(ctx context.Context) error {
	n.mu.Lock()
	ready := n.state.ready
	n.mu.Unlock()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Nodes returns the IDs of the nodes whose leases live, as the last beat has said; this one is always
// among them.
func (n *Node) Nodes() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	ids := make([]string, 0, len(n.state.last.peers)+1)
	for _, p := range n.state.last.peers {
		if p.id != n.state.id {
			ids = append(ids, p.id)
		}
	}
	return append(ids, n.state.id)
}

// Count is how many nodes there are, with this one: those whose leases live. When no beat was answered
// for the time of a lease, or none ever, it is what Expected says.
func (n *Node) Count() int {
	n.mu.Lock()
	recent := !n.state.at.IsZero() && time.Since(n.state.at) < n.config.Lease
	n.mu.Unlock()
	if !recent {
		if expected := n.config.Expected(); expected > 0 {
			return expected
		}
	}
	return len(n.Nodes())
}

// Now is the engine's time.
func (n *Node) Now() time.Time {
	if n.config.Now != nil {
		return n.config.Now()
	}
	return n.clock.now()
}
