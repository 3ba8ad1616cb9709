package limitstest

import (
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// gateways are asked in turn.
type gateways struct {
	t    *testing.T
	all  []Gateway
	next int
}

func (g *gateways) turn() Gateway {
	g.next++
	return g.all[g.next%len(g.all)]
}

func slots(name string, limit, queue int) limits.Subject {
	return limits.Subject{Name: name, Concurrency: limits.Concurrency{Limit: limit, Queue: queue, Wait: within}}
}

// enter enters at the next gateway, which refuses or queues nothing.
func (g *gateways) enter(subjects ...limits.Subject) *limits.Permit {
	g.t.Helper()
	permit := g.ask(subjects...)
	if permit == nil || permit.Waiting() {
		g.t.Fatalf("not admitted at once")
	}
	return permit
}

// ask returns nil if the call is refused.
func (g *gateways) ask(subjects ...limits.Subject) *limits.Permit {
	g.t.Helper()
	return g.askAt(g.turn(), nil, subjects...)
}

func (g *gateways) askAt(at Gateway, held *limits.Permit, subjects ...limits.Subject) *limits.Permit {
	g.t.Helper()
	entry, err := at.Limiter.Enter(g.t.Context(), at.Rates, subjects, held)
	if err != nil || entry.Over != nil {
		g.t.Fatalf("%+v, %v", entry.Over, err)
	}
	return entry.Permit
}

// admitted waits until a call is admitted somewhere: a slot may be on its way to another gateway.
func (g *gateways) admitted(subjects ...limits.Subject) *limits.Permit {
	g.t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(time.Millisecond) {
		if permit := g.ask(subjects...); permit != nil {
			return permit
		}
		if time.Now().After(deadline) {
			g.t.Fatal("never admitted")
		}
	}
}

// wantFree checks that all slots are free, for each gateway.
func (g *gateways) wantFree(s limits.Subject) {
	g.t.Helper()
	for range g.all {
		var permits []*limits.Permit
		for range s.Concurrency.Limit {
			permits = append(permits, g.admitted(s))
		}
		if extra := g.ask(s); extra != nil {
			g.t.Error("more than the limit")
		}
		for _, p := range permits {
			p.Release()
		}
	}
}

// wantUse waits until all gateways report that use.
func (g *gateways) wantUse(s limits.Subject, inUse, waiting int) {
	g.t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(time.Millisecond) {
		var uses []limits.ConcurrencyUse
		for _, at := range g.all {
			use, err := at.Limiter.Read(g.t.Context(), []limits.Subject{{Name: "none"}, s})
			if err != nil || len(use) != 2 || use[0] != (limits.ConcurrencyUse{}) {
				g.t.Fatalf("%+v, %v", use, err)
			}
			uses = append(uses, use[1])
		}
		if !slices.ContainsFunc(uses, func(u limits.ConcurrencyUse) bool { return u != limits.ConcurrencyUse{InUse: inUse, Waiting: waiting} }) {
			return
		}
		if time.Now().After(deadline) {
			g.t.Fatalf("%+v, want %d and %d", uses, inUse, waiting)
		}
	}
}
