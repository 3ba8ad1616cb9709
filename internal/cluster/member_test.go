package cluster_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

const (
	lease = 900 * time.Millisecond // of the nodes in these tests
	beat  = 60 * time.Millisecond
)

var guarded = cluster.NewScript("guarded", "return lease() or fence() or 'ok'")

// part writes down what its node asks of it.
type part struct {
	mu    sync.Mutex
	calls []string
	fail  map[string]error // by call
}

func (p *part) call(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.fail[name]
	if err != nil {
		name += " failed"
	}
	p.calls = append(p.calls, name)
	return err
}

// fails makes a call fail, or work again.
func (p *part) fails(name string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail[name] = err
}

func (p *part) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = nil
}

func (p *part) has(name string) bool { return p.count(name) > 0 }

func (p *part) count(name string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.calls {
		if c == name {
			n++
		}
	}
	return n
}

func (p *part) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

func (p *part) part() cluster.Part {
	return cluster.Part{
		Name:   "test",
		Rejoin: func(context.Context) error { return p.call("rejoin") },
		Reap:   func(_ context.Context, dead string) error { return p.call("reap " + dead) },
		Replay: func(_ context.Context, wiped bool) error {
			if wiped {
				return p.call("replay all")
			}
			return p.call("replay")
		},
		Flush: func(context.Context) error { return p.call("flush") },
		Load:  func(context.Context) error { return p.call("load") },
	}
}

// member is a node with a part, on a client of its own.
type member struct {
	*cluster.Node
	*part
	engine *valkey.Client
}

// join starts a node. change may be nil.
func join(t *testing.T, name string, engine valkey.Config, change func(*cluster.Config)) member {
	t.Helper()
	m := newMember(t, name, engine, change)
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m
}

func newMember(t *testing.T, name string, engine valkey.Config, change func(*cluster.Config)) member {
	t.Helper()
	m := member{part: &part{fail: map[string]error{}}, engine: valkey.New(engine)}
	config := cluster.Config{Name: "prod", Node: name, Engine: m.engine, Logger: zap.NewNop(), Lease: lease, Beat: beat}
	if change != nil {
		change(&config)
	}
	m.Node = cluster.New(config)
	m.Node.Join(m.part.part())
	t.Cleanup(func() { m.Stop(); m.engine.Close() })
	return m
}

func at(e *enginetest.Engine) valkey.Config { return valkey.Config{Addresses: []string{e.Addr}} }

// ok reports whether a script that needs a lease and a whole ledger runs.
func (m member) ok(ctx context.Context) error {
	_, err := m.Run(ctx, guarded)
	return err
}

// within fails the test unless the condition comes true in time.
func within(t *testing.T, limit time.Duration, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}
