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
	"context"
	_ "embed"
	"errors"
	"fmt"
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

// Config is what a node is.
type Config struct {
	Name   string // of the cluster; in the names of all its keys
	Node   string // the name of this gateway, of no other
	Engine *valkey.Client
	Logger *zap.Logger
	// Now is the clock of the engine, for a test; nil: it is asked.
	Now func() time.Time
}

// Part is a part of the gateway that keeps something in the engine. All functions may be nil.
type Part struct {
	Name string
	// Beat runs after each renewal of the lease.
	Beat func(ctx context.Context) error
	// Rejoin states everything that this node holds, under its new ID: the old one was taken for dead.
	Rejoin func(ctx context.Context) error
	// Reap takes over what a dead node held, under that ID. It may run again after an error, and on
	// another node.
	Reap func(ctx context.Context, dead string) error
	// Replay says again what the engine may have lost: a replica was promoted, or it was restarted.
	// wiped: it has lost everything.
	Replay func(ctx context.Context, wiped bool) error
}

// Node is this gateway among the nodes of a cluster. It is safe for concurrent use.
type Node struct {
	config Config
	tag    string
	parts  []Part

	mu    sync.Mutex // guards the following
	id    string     // the name and its incarnation
	epoch string     // of the engine, as this node has replayed for it
}

// New returns a node that has not started.
func New(c Config) *Node {
	return &Node{config: c, tag: "{gh:" + c.Name + "}", id: c.Node + ".1"}
}

// Join adds a part. It must be called before Start.
func (n *Node) Join(p Part) { n.parts = append(n.parts, p) }

// ID is the name of this node in the engine. It changes when the lease was lost.
func (n *Node) ID() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.id
}

// Key returns the name of a key in the engine.
func (n *Node) Key(name string) string { return n.tag + name }

// Engine returns the connection to the engine, for what needs no script.
func (n *Node) Engine() *valkey.Client { return n.config.Engine }

//go:embed prelude.lua
var prelude string

// NewScript returns a script for Run: the text goes on behind prelude.lua, which says what it finds.
func NewScript(name, text string) *valkey.Script { return valkey.NewScript(name, prelude+text) }

// FirstArg is the index in ARGV of the first argument of a script, in Lua.
const FirstArg = 4

// Run runs a script of NewScript. Besides [valkey.ErrUnavailable] and errors of the script itself it
// returns ErrLeaseLost, ErrFenced and ErrClock.
func (n *Node) Run(ctx context.Context, s *valkey.Script, args ...string) (valkey.Reply, error) {
	n.mu.Lock()
	id, epoch := n.id, n.epoch
	n.mu.Unlock()
	now := ""
	if n.config.Now != nil {
		now = fmt.Sprint(n.config.Now().UnixMicro())
	}
	reply, err := n.config.Engine.Run(ctx, s, []string{n.tag}, append([]string{id, epoch, now}, args...))
	return reply, n.explain(err)
}

// explain returns the error that an error reply of a script stands for.
func (n *Node) explain(err error) error {
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
	}
	return err
}

var beat = NewScript("beat", `
local replid = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
redis.call('ZADD', T .. 'nodes', now + tonumber(ARGV[4]), node)
redis.call('SET', T .. 'e', replid, 'NX')
return {tostring(now), redis.call('GET', T .. 'e')}`)

// Start takes the lease.
func (n *Node) Start(ctx context.Context) error {
	reply, err := n.Run(ctx, beat, fmt.Sprint(leaseTime.Microseconds()))
	if err != nil {
		return err
	}
	answer, err := reply.AsStrSlice()
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.epoch = answer[1]
	return nil
}

// Stop gives the lease back.
func (n *Node) Stop() {}

// Publish tells all nodes, this one too, that something has happened. They hear it within
// milliseconds, or never: a beat must find out what matters.
func (n *Node) Publish(ctx context.Context, kind, text string) error {
	_, err := n.config.Engine.Do(ctx, "XADD", n.Key("ev"), "MAXLEN", "~", "10000", "*", "kind", kind, "text", text)
	return err
}

// On calls f for each event of a kind, on one goroutine. It must be called before Start.
func (n *Node) On(kind string, f func(text string)) {}

// Nodes returns the IDs of the nodes whose leases live.
func (n *Node) Nodes() []string { return []string{n.ID()} }

// Now is the engine's time.
func (n *Node) Now() time.Time {
	if n.config.Now != nil {
		return n.config.Now()
	}
	return time.Now()
}
