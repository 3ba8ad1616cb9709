package cluster_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/enginetest"
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
	fail  map[string]error // by call; "replay" for all replays
}

func (p *part) call(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, name)
	return p.fail[name]
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

func TestAScriptNeedsALease(t *testing.T) {
	m := newMember(t, "a", at(enginetest.Redis(t)), nil)
	if err := m.ok(t.Context()); !errors.Is(err, cluster.ErrLeaseLost) {
		t.Errorf("before the start: %v", err)
	}
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.ok(t.Context()); err != nil {
		t.Error(err)
	}
	if m.ID() != "a.1" {
		t.Errorf("ID %q", m.ID())
	}
	m.Stop()
	if err := m.ok(t.Context()); !errors.Is(err, cluster.ErrLeaseLost) {
		t.Errorf("after the stop: %v", err)
	}
	if !m.has("reap a.1") {
		t.Errorf("a node that stops has not given back what it holds: %v", m.all())
	}
}

func TestNodesSeeEachOther(t *testing.T) {
	e := enginetest.Redis(t)
	a, b := join(t, "a", at(e), nil), join(t, "b", at(e), nil)
	within(t, time.Second, "two nodes", func() bool { return len(a.Nodes()) == 2 && len(b.Nodes()) == 2 })
	b.Stop()
	within(t, time.Second, "one node", func() bool { return len(a.Nodes()) == 1 })
	if a.has("reap b.1") {
		t.Error("a node that has stopped was reaped")
	}
}

func TestADeadNodeIsReapedByOneOtherAndAgainAfterAnError(t *testing.T) {
	e := enginetest.Redis(t)
	a, b := join(t, "a", at(e), nil), join(t, "b", at(e), nil)
	a.fail["reap c.1"] = errors.New("not now")
	dead := join(t, "c", at(e), nil)
	dead.engine.Close() // it cannot renew its lease
	within(t, 4*lease, "the dead node is reaped", func() bool { return a.count("reap c.1")+b.count("reap c.1") >= 1 })
	if n := a.count("reap c.1") + b.count("reap c.1"); n != 1 {
		t.Errorf("it was reaped %d times at once", n)
	}
	within(t, 8*lease, "it is reaped until it has worked", func() bool { return b.has("reap c.1") })
	within(t, time.Second, "it is removed", func() bool { return !exists(t, b, "dead") })
}

func exists(t *testing.T, m member, key string) bool {
	t.Helper()
	reply, err := m.engine.Do(t.Context(), "EXISTS", m.Key(key))
	if err != nil {
		t.Fatal(err)
	}
	n, err := reply.ToInt64()
	if err != nil {
		t.Fatal(err)
	}
	return n == 1
}

func TestANodeThatWasTakenForDeadGoesOnWithANewID(t *testing.T) {
	e := enginetest.Redis(t)
	a := join(t, "a", at(e), nil)
	if _, err := a.engine.Do(t.Context(), "ZREM", a.Key("nodes"), a.ID()); err != nil {
		t.Fatal(err)
	}
	if err := a.ok(t.Context()); !errors.Is(err, cluster.ErrLeaseLost) {
		t.Fatalf("without a lease: %v", err)
	}
	if err := a.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.ok(t.Context()); err != nil {
		t.Error(err)
	}
	if a.ID() != "a.2" || a.count("rejoin") != 1 {
		t.Errorf("ID %s, %v", a.ID(), a.all())
	}
}

func TestAStartAgainHasANewID(t *testing.T) {
	e := enginetest.Redis(t)
	first := join(t, "a", at(e), nil)
	first.Stop()
	if second := join(t, "a", at(e), nil); second.ID() != "a.2" || second.has("rejoin") {
		t.Errorf("ID %s, %v", second.ID(), second.all())
	}
}

func TestANameOfALiveNodeIsRefused(t *testing.T) {
	e := enginetest.Redis(t)
	first := join(t, "a", at(e), nil)
	second := newMember(t, "a", at(e), nil)
	if err := second.Start(t.Context()); !errors.Is(err, cluster.ErrNameTaken) {
		t.Fatalf("%v", err)
	}
	first.engine.Close() // killed
	if err := second.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	within(t, 3*lease, "the first one is reaped", func() bool { return second.has("reap a.1") })
}

func TestANewerLayoutIsRefused(t *testing.T) {
	m := newMember(t, "a", at(enginetest.Redis(t)), nil)
	if _, err := m.engine.Do(t.Context(), "SET", m.Key("v"), "2"); err != nil {
		t.Fatal(err)
	}
	if err := m.Start(t.Context()); !errors.Is(err, cluster.ErrLayout) {
		t.Errorf("%v", err)
	}
}

func TestTheClockIsTheEngines(t *testing.T) {
	a := join(t, "a", at(enginetest.Redis(t)), nil)
	if d := time.Since(a.Now()).Abs(); d > 50*time.Millisecond {
		t.Errorf("%v away from an engine on this machine", d)
	}
}

func TestEventsReachAllNodes(t *testing.T) {
	e := enginetest.Redis(t)
	heard := make(chan string, 10)
	a, b := newMember(t, "a", at(e), nil), newMember(t, "b", at(e), nil)
	for _, m := range []member{a, b} {
		m.On("free", func(text string) { heard <- text })
		if err := m.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{"other", "free"} {
		if err := a.Publish(t.Context(), kind, kind+" m1"); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		select {
		case text := <-heard:
			if text != "free m1" {
				t.Errorf("%q", text)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("not heard")
		}
	}
}
