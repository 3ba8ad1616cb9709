package limits_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func crowded(name string, limit, queue int, wait time.Duration) limits.Subject {
	return limits.Subject{Name: name, Concurrency: limits.Concurrency{Limit: limit, Queue: queue, Wait: wait}}
}

func enter(t *testing.T, g *limits.ConcurrencyLimiter, subjects ...limits.Subject) *limits.Permit {
	t.Helper()
	p, busy, err := g.AcquireWait(t.Context(), subjects)
	if busy != nil || err != nil {
		t.Fatalf("%+v, %v", busy, err)
	}
	return p
}

func inside(t *testing.T, g *limits.ConcurrencyLimiter, name string, want, waiting int) {
	t.Helper()
	if in, queue := g.InUse(name); in != want || queue != waiting {
		t.Errorf("%s: %d inside and %d waiting, want %d and %d", name, in, queue, want, waiting)
	}
}

func TestPlacesAreGivenBackOnce(t *testing.T) {
	g := limits.NewConcurrencyLimiter()
	key, tenant := crowded("key:a", 2, 0, 0), crowded("tenant:a", 3, 0, 0)
	a, b := enter(t, g, key, tenant), enter(t, g, key, tenant)
	_, busy, err := g.AcquireWait(t.Context(), []limits.Subject{tenant, key})
	if err != nil || busy == nil || busy.Subject != "key:a" || busy.InUse != 2 || busy.RetryAfter != limits.BusyRetry {
		t.Fatalf("%+v, %v", busy, err)
	}
	inside(t, g, "tenant:a", 2, 0) // what it had taken is back
	a.Release()
	a.Release()
	inside(t, g, "key:a", 1, 0)
	c := enter(t, g, key, tenant)
	b.Release()
	c.Release()
	var none *limits.Permit
	none.Release()
	enter(t, g, limits.Subject{Name: "free"}).Release()
	if n := limits.Pools(g); n != 0 {
		t.Errorf("%d subjects are remembered for nothing", n)
	}
}

func TestQueueIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewConcurrencyLimiter()
		s := crowded("key:a", 1, 3, 10*time.Second)
		first := enter(t, g, s)
		var order []int
		var mu sync.Mutex
		for i := range 3 {
			go func() {
				p, busy, err := g.AcquireWait(t.Context(), []limits.Subject{s})
				if busy != nil || err != nil {
					t.Errorf("%+v, %v", busy, err)
					return
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(time.Second)
				p.Release()
			}()
			synctest.Wait()
		}
		if _, busy, _ := g.AcquireWait(t.Context(), []limits.Subject{s}); busy == nil || busy.Waiting != 3 {
			t.Errorf("the queue is full: %+v", busy)
		}
		first.Release()
		if _, busy, _ := g.AcquireWait(t.Context(), []limits.Subject{crowded("key:a", 1, 0, 0)}); busy == nil {
			t.Error("overtook the queue")
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if fmt.Sprint(order) != "[0 1 2]" || limits.Pools(g) != 0 {
			t.Errorf("order %v, %d rooms", order, limits.Pools(g))
		}
	})
}

func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewConcurrencyLimiter()
		first := enter(t, g, crowded("key:a", 1, 0, 0))
		start := time.Now()
		_, busy, err := g.AcquireWait(t.Context(), []limits.Subject{crowded("gateway", 5, 0, 0), crowded("key:a", 1, 1, 3*time.Second)})
		if busy == nil || err != nil || time.Since(start) != 3*time.Second {
			t.Errorf("%+v, %v after %v", busy, err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, busy, err = g.AcquireWait(ctx, []limits.Subject{crowded("gateway", 5, 0, 0), crowded("key:a", 1, 1, 3*time.Second)})
		if busy != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the client has gone: %+v, %v", busy, err)
		}
		inside(t, g, "gateway", 0, 0)
		inside(t, g, "key:a", 1, 0)
		first.Release()
		if limits.Pools(g) != 0 {
			t.Error("a room is left")
		}
	})
}

// What a reload makes of a limit holds from the next call on, for those who wait already, too.
func TestARaisedLimitLetsInWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewConcurrencyLimiter()
		first := enter(t, g, crowded("key:a", 1, 10, time.Minute))
		waiting := make(chan *limits.Permit)
		go func() { waiting <- enter(t, g, crowded("key:a", 1, 10, time.Minute)) }()
		synctest.Wait()
		start := time.Now()
		third := enter(t, g, crowded("key:a", 3, 0, 0))
		second := <-waiting
		if waited := time.Since(start); waited != 0 {
			t.Errorf("with three places two waited for %v", waited)
		}
		if _, busy, _ := g.AcquireWait(t.Context(), []limits.Subject{crowded("key:a", 3, 0, 0)}); busy == nil || busy.InUse != 3 {
			t.Errorf("a fourth: %+v", busy)
		}
		for _, p := range []*limits.Permit{first, second, third} {
			p.Release()
		}
		if n := limits.Pools(g); n != 0 {
			t.Errorf("%d rooms are left", n)
		}
	})
}

func TestALoweredLimitHoldsForWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewConcurrencyLimiter()
		first, second := enter(t, g, crowded("key:a", 2, 10, time.Minute)), enter(t, g, crowded("key:a", 2, 10, time.Minute))
		go func() {
			if _, busy, err := g.AcquireWait(t.Context(), []limits.Subject{crowded("key:a", 2, 10, time.Minute)}); busy == nil {
				t.Errorf("let in beside another though one is the limit now: %v", err)
			}
		}()
		synctest.Wait()
		if _, busy, _ := g.AcquireWait(t.Context(), []limits.Subject{crowded("key:a", 1, 0, 0)}); busy == nil {
			t.Error("three of one")
		}
		first.Release()
		synctest.Wait()
		inside(t, g, "key:a", 1, 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		second.Release()
	})
}

// A caller that is let in at the moment it gives up holds nothing.
func TestGivingUpAtTheDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewConcurrencyLimiter()
		s := crowded("key:a", 1, 1, time.Minute)
		for range 200 {
			first := enter(t, g, s)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				p, _, _ := g.AcquireWait(ctx, []limits.Subject{s})
				p.Release()
			}()
			synctest.Wait()
			cancel()
			first.Release()
			synctest.Wait()
			inside(t, g, "key:a", 0, 0)
		}
	})
}

func TestCrowdAtTheGate(t *testing.T) {
	g := limits.NewConcurrencyLimiter()
	key, everybody := crowded("key:a", 4, 20, time.Minute), crowded("gateway", 6, 100, time.Minute)
	var in, most, turned atomic.Int64
	var wg sync.WaitGroup
	for i := range 300 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 0))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if random.IntN(3) == 0 {
				go cancel()
			}
			subjects := []limits.Subject{key, everybody}
			if i%2 == 0 {
				subjects[0].Name = "key:b"
			}
			p, busy, err := g.AcquireWait(ctx, subjects)
			if busy != nil || err != nil {
				turned.Add(1)
				return
			}
			n := in.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			in.Add(-1)
			p.Release()
		})
	}
	wg.Wait()
	if most.Load() > 6 || most.Load() == 0 || limits.Pools(g) != 0 {
		t.Errorf("at most %d inside, %d turned away, %d rooms left", most.Load(), turned.Load(), limits.Pools(g))
	}
}

// Whoever turns a permit away, the one that waits for it hears at once.
func TestAPermitThatIsTurnedAwayStopsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewConcurrencyLimiter()
		s := []limits.Subject{crowded("key:a", 1, 1, time.Minute)}
		first := enter(t, g, s...)
		waits, busy := g.Acquire(s, nil)
		if busy != nil {
			t.Fatalf("%+v", busy)
		}
		heard := make(chan *limits.Busy)
		start := time.Now()
		go func() {
			busy, _ := waits.Wait(t.Context())
			heard <- busy
		}()
		synctest.Wait()
		if !waits.TimeOut() || waits.TimeOut() {
			t.Error("it is turned away once")
		}
		if busy := <-heard; busy == nil || time.Since(start) != 0 {
			t.Errorf("%+v after %v", busy, time.Since(start))
		}
		first.Release()
	})
}
