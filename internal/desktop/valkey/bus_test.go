//go:build unix

package valkey_test

import (
	"context"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// bus carries the events between the nodes of a test.
type bus struct {
	mu       sync.Mutex
	held     bool // events are lost
	handlers map[string][]func(string)
	settle   []func() // they wait for what the handlers began
}

// publish returns when the event has had its effect.
func (b *bus) publish(kind, text string) {
	b.mu.Lock()
	held, settle := b.held, b.settle
	b.mu.Unlock()
	if held {
		return
	}
	b.deliver(kind, text)
	for _, f := range settle {
		f()
	}
}

func (b *bus) deliver(kind, text string) {
	b.mu.Lock()
	handlers := b.handlers[kind]
	b.mu.Unlock()
	for _, f := range handlers {
		f(text)
	}
}

func (b *bus) hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = true
}

// node is a node whose events go over the bus, and whose beats are the test's.
type node struct {
	*cluster.Node
	bus  *bus
	part cluster.Part
	// before and lost are called before and after a script runs: the message, or its answer, is lost.
	before, lost func(script string) error
	twice        bool           // each message arrives twice, and is answered once
	late         func(f func()) // called to publish an event; nil: it arrives at once
}

func (n *node) Join(p cluster.Part) { n.part = p }

func (n *node) Publish(_ context.Context, kind, text string) error {
	if n.late != nil {
		n.late(func() { n.bus.publish(kind, text) })
	} else {
		n.bus.publish(kind, text)
	}
	return nil
}

func (n *node) On(kind string, f func(string)) {
	n.bus.mu.Lock()
	defer n.bus.mu.Unlock()
	n.bus.handlers[kind] = append(n.bus.handlers[kind], f)
}

func (n *node) Run(ctx context.Context, s *valkey.Script, args ...string) (valkey.Reply, error) {
	if n.before != nil {
		if err := n.before(s.String()); err != nil {
			return valkey.Reply{}, err
		}
	}
	reply, err := n.Node.Run(ctx, s, args...)
	if n.twice {
		_, _ = n.Node.Run(ctx, s, args...)
	}
	if err == nil && n.lost != nil {
		err = n.lost(s.String())
	}
	return reply, err
}
