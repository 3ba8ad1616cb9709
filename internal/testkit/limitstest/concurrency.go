package limitstest

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Gateway is one of those that share slots.
type Gateway struct {
	Limiter *limits.ConcurrencyLimiter
	Rates   limits.Rates
}

// RunConcurrency tests whether gateways together keep the contract of a limit of calls at once. open
// returns gateways without calls, at least one.
func RunConcurrency(t *testing.T, open func(*testing.T) []Gateway) {
	for _, tt := range []struct {
		name string
		test func(*gateways)
	}{
		{"TheLimitItselfMayBeUsed", (*gateways).theLimitItself},
		{"FullSubjectRefuses", (*gateways).full},
		{"AllSlotsOrNone", (*gateways).allOrNone},
		{"RefusedRateTakesNoSlot", (*gateways).refusedRate},
		{"LimitsChangeWithReloads", (*gateways).changedLimits},
		{"QueueIsServed", (*gateways).queueServed},
		{"FirstComeFirstServed", (*gateways).order},
		{"AnotherSubjectsSlotIsNotHeldWhileWaiting", (*gateways).heldIsReleased},
		{"LargeLimit", (*gateways).largeLimit},
		{"CrowdStaysWithinTheLimit", (*gateways).crowd},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(&gateways{t, open(t), 0}) })
	}
}

func (g *gateways) theLimitItself() {
	s := slots("key:a", 3, 0)
	for range 3 {
		var permits []*limits.Permit
		for range 3 {
			permits = append(permits, g.admitted(s))
		}
		for _, p := range permits {
			p.Release()
			p.Release() // has no effect
		}
	}
	g.wantFree(s)
	if p := g.ask(limits.Subject{Name: "key:b"}); p != nil {
		g.t.Error("a permit without a limit")
	}
}

func (g *gateways) full() {
	s := slots("key:a", 2, 0)
	defer g.enter(s).Release()
	defer g.enter(s).Release()
	for range len(g.all) {
		at := g.turn()
		entry, err := at.Limiter.Enter(g.t.Context(), at.Rates, []limits.Subject{s}, nil)
		if err != nil || entry.Permit != nil || entry.Busy == nil || entry.Busy.Subject != "key:a" || entry.Busy.RetryAfter != limits.BusyRetry {
			g.t.Errorf("%+v, %v", entry, err)
		}
	}
}

func (g *gateways) allOrNone() {
	key, tenant := slots("key:a", 5, 0), slots("tenant:a", 1, 0)
	first := g.enter(key, tenant)
	for range 5 {
		if p := g.ask(key, tenant); p != nil {
			g.t.Fatal("more than the tenant's limit")
		}
	}
	first.Release()
	g.wantFree(key)
	g.wantFree(tenant)
}

func (g *gateways) refusedRate() {
	s := slots("key:a", 1, 0)
	s.Rates = rated(g.t, "key:a", "1/h").Rates
	g.enter(s).Release()
	at := g.turn()
	entry, err := at.Limiter.Enter(g.t.Context(), at.Rates, []limits.Subject{s}, nil)
	if err != nil || entry.Over == nil || entry.Permit != nil {
		g.t.Fatalf("%+v, %v", entry, err)
	}
	g.wantFree(slots("key:a", 1, 0))
}

func (g *gateways) changedLimits() {
	var permits []*limits.Permit
	for range 2 {
		permits = append(permits, g.enter(slots("key:a", 2, 0)))
	}
	permits = append(permits, g.admitted(slots("key:a", 3, 0)))
	if p := g.ask(slots("key:a", 1, 0)); p != nil {
		g.t.Error("a lower limit does not hold")
	}
	for _, p := range permits {
		p.Release()
	}
	g.wantUse(slots("key:a", 1, 0), 0, 0)
	g.wantFree(slots("key:a", 1, 0))
}

func (g *gateways) queueServed() {
	s := slots("key:a", 1, 5)
	first := g.enter(s)
	g.wantUse(s, 1, 0)
	for range 3 * len(g.all) {
		next := g.ask(s)
		if next == nil || !next.Waiting() {
			g.t.Fatal("it does not wait")
		}
		g.wantUse(s, 1, 1)
		first.Release()
		if busy, err := next.Wait(g.t.Context()); busy != nil || err != nil {
			g.t.Fatalf("%+v, %v", busy, err)
		}
		first = next
	}
	first.Release()
	g.wantFree(slots("key:a", 1, 0))
}

func (g *gateways) order() {
	s, at := slots("key:a", 1, 10), g.turn()
	first := g.enter(s)
	var waiting []*limits.Permit
	for range 10 {
		waiting = append(waiting, g.askAt(at, nil, s))
	}
	if p := g.askAt(at, nil, s); p != nil {
		g.t.Error("the queue is full")
	}
	first.Release()
	for i, p := range waiting {
		if busy, err := p.Wait(g.t.Context()); busy != nil || err != nil {
			g.t.Fatalf("%d: %+v, %v", i, busy, err)
		}
		if inUse, queued := at.Limiter.InUse("key:a"); inUse != 1 || queued != len(waiting)-i-1 {
			g.t.Errorf("%d: %d under way and %d waiting", i, inUse, queued)
		}
		p.Release()
	}
}

func (g *gateways) heldIsReleased() {
	key, model := slots("key:a", 1, 0), slots("model:a", 1, 5)
	busy := g.enter(model)
	at := g.turn()
	held := g.askAt(at, nil, key)
	waits := g.askAt(at, held, model)
	if waits == nil || !waits.Waiting() {
		g.t.Fatal("it does not wait")
	}
	other := g.admitted(key) // the key's slot is free meanwhile
	busy.Release()
	other.Release()
	if refused, err := waits.Wait(g.t.Context()); refused != nil || err != nil {
		g.t.Fatalf("%+v, %v", refused, err)
	}
	if p := g.ask(key); p != nil {
		g.t.Error("it does not hold the key's slot")
	}
	waits.Release()
	held.Release()
	g.wantFree(key)
}

func (g *gateways) largeLimit() {
	s := slots("gateway", 200, 0)
	var permits []*limits.Permit
	for range 100 {
		permits = append(permits, g.enter(s))
	}
	for range 100 { // a gateway may keep some slots for its next calls; a call that waits gets them
		s.Concurrency.Queue = 1
		p := g.admitted(s)
		if busy, err := p.Wait(g.t.Context()); busy != nil || err != nil {
			g.t.Fatalf("%+v, %v", busy, err)
		}
		permits = append(permits, p)
	}
	s.Concurrency.Queue = 0
	for range 2 * len(g.all) {
		if p := g.ask(s); p != nil {
			g.t.Fatal("more than the limit")
		}
	}
	for _, p := range permits {
		p.Release()
	}
}

func (g *gateways) crowd() {
	for _, limit := range []int{2, 5} {
		g.crowdOf(limit)
	}
}

func (g *gateways) crowdOf(limit int) {
	const callers, calls = 8, 20
	key, tenant := slots("key:a", limit, callers), slots("tenant:a", limit-1, 2)
	var ofKey, ofTenant, admitted atomic.Int64
	var wg sync.WaitGroup
	for i, at := range g.all {
		for j := range callers {
			random := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			wg.Go(func() {
				for range calls {
					subjects := []limits.Subject{key, tenant}[:1+random.IntN(2)]
					entry, err := at.Limiter.Enter(g.t.Context(), at.Rates, subjects, nil)
					if err != nil {
						g.t.Error(err)
						return
					}
					if entry.Busy != nil {
						continue
					}
					if busy, err := entry.Permit.Wait(g.t.Context()); busy != nil || err != nil {
						g.t.Errorf("%+v, %v", busy, err)
						continue
					}
					admitted.Add(1)
					if n := ofKey.Add(1); n > int64(limit) {
						g.t.Errorf("%d calls of the key", n)
					}
					if len(subjects) == 2 {
						if n := ofTenant.Add(1); n > int64(limit-1) {
							g.t.Errorf("%d calls of the tenant", n)
						}
					}
					time.Sleep(time.Duration(random.IntN(500)) * time.Microsecond)
					if len(subjects) == 2 {
						ofTenant.Add(-1)
					}
					ofKey.Add(-1)
					entry.Permit.Release()
				}
			})
		}
	}
	wg.Wait()
	if n := admitted.Load(); n < callers*calls/4 {
		g.t.Errorf("only %d calls", n)
	}
	g.wantFree(slots("key:a", limit, 0))
	g.wantFree(slots("tenant:a", limit-1, 0))
}
