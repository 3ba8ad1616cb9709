package limits_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func withConcurrency(name string, limit, queue int, wait time.Duration) limits.Subject {
	return limits.Subject{Name: name, Concurrency: limits.Concurrency{Limit: limit, Queue: queue, Wait: wait}}
}

func acquire(t *testing.T, g *limits.ConcurrencyLimiter, subjects ...limits.Subject) *limits.Permit {
	t.Helper()
	p, busy, err := g.AcquireWait(t.Context(), subjects)
	if busy != nil || err != nil {
		t.Fatalf("%+v, %v", busy, err)
	}
	return p
}

func wantInUse(t *testing.T, g *limits.ConcurrencyLimiter, name string, want, waiting int) {
	t.Helper()
	if in, queue := g.InUse(name); in != want || queue != waiting {
		t.Errorf("%s: %d under way and %d waiting, want %d and %d", name, in, queue, want, waiting)
	}
}

func TestSlotsAreReleasedOnce(t *testing.T) {
	g := limits.NewConcurrencyLimiter()
	key, tenant := withConcurrency("key:a", 2, 0, 0), withConcurrency("tenant:a", 3, 0, 0)
	a, b := acquire(t, g, key, tenant), acquire(t, g, key, tenant)
	_, busy, err := g.AcquireWait(t.Context(), []limits.Subject{tenant, key})
	if err != nil || busy == nil || busy.Subject != "key:a" || busy.InUse != 2 || busy.RetryAfter != limits.BusyRetry {
		t.Fatalf("%+v, %v", busy, err)
	}
	wantInUse(t, g, "tenant:a", 2, 0) // its slot is free again
	a.Release()
	a.Release()
	wantInUse(t, g, "key:a", 1, 0)
	c := acquire(t, g, key, tenant)
	b.Release()
	c.Release()
	var none *limits.Permit
	none.Release()
	acquire(t, g, limits.Subject{Name: "free"}).Release()
	if n := limits.Pools(g); n != 0 {
		t.Errorf("%d subjects are remembered for nothing", n)
	}
}

func TestQueueIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewConcurrencyLimiter()
		s := withConcurrency("key:a", 1, 3, 10*time.Second)
		first := acquire(t, g, s)
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
		if _, busy, _ := g.AcquireWait(t.Context(), []limits.Subject{withConcurrency("key:a", 1, 0, 0)}); busy == nil {
			t.Error("overtook the queue")
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if fmt.Sprint(order) != "[0 1 2]" || limits.Pools(g) != 0 {
			t.Errorf("order %v, %d subjects held", order, limits.Pools(g))
		}
	})
}

func TestQueueTimeoutEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewConcurrencyLimiter()
		first := acquire(t, g, withConcurrency("key:a", 1, 0, 0))
		start := time.Now()
		_, busy, err := g.AcquireWait(t.Context(), []limits.Subject{withConcurrency("gateway", 5, 0, 0), withConcurrency("key:a", 1, 1, 3*time.Second)})
		if busy == nil || err != nil || time.Since(start) != 3*time.Second {
			t.Errorf("%+v, %v after %v", busy, err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, busy, err = g.AcquireWait(ctx, []limits.Subject{withConcurrency("gateway", 5, 0, 0), withConcurrency("key:a", 1, 1, 3*time.Second)})
		if busy != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the client has disconnected: %+v, %v", busy, err)
		}
		wantInUse(t, g, "gateway", 0, 0)
		wantInUse(t, g, "key:a", 1, 0)
		first.Release()
		if limits.Pools(g) != 0 {
			t.Error("a subject is still held")
		}
	})
}

// A reload changes a limit from the next call on, for waiting calls too.
func TestRaisedLimitAdmitsQueuedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewConcurrencyLimiter()
		first := acquire(t, g, withConcurrency("key:a", 1, 10, time.Minute))
		waiting := make(chan *limits.Permit)
		go func() { waiting <- acquire(t, g, withConcurrency("key:a", 1, 10, time.Minute)) }()
		synctest.Wait()
		start := time.Now()
		third := acquire(t, g, withConcurrency("key:a", 3, 0, 0))
		second := <-waiting
		if waited := time.Since(start); waited != 0 {
			t.Errorf("with three slots two calls waited for %v", waited)
		}
		if _, busy, _ := g.AcquireWait(t.Context(), []limits.Subject{withConcurrency("key:a", 3, 0, 0)}); busy == nil || busy.InUse != 3 {
			t.Errorf("a fourth: %+v", busy)
		}
		for _, p := range []*limits.Permit{first, second, third} {
			p.Release()
		}
		if n := limits.Pools(g); n != 0 {
			t.Errorf("%d subjects are still held", n)
		}
	})
}

func TestLoweredLimitHoldsForQueuedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewConcurrencyLimiter()
		first, second := acquire(t, g, withConcurrency("key:a", 2, 10, time.Minute)), acquire(t, g, withConcurrency("key:a", 2, 10, time.Minute))
		go func() {
			if _, busy, err := g.AcquireWait(t.Context(), []limits.Subject{withConcurrency("key:a", 2, 10, time.Minute)}); busy == nil {
				t.Errorf("let in beside another though one is the limit now: %v", err)
			}
		}()
		synctest.Wait()
		if _, busy, _ := g.AcquireWait(t.Context(), []limits.Subject{withConcurrency("key:a", 1, 0, 0)}); busy == nil {
			t.Error("three of one")
		}
		first.Release()
		synctest.Wait()
		wantInUse(t, g, "key:a", 1, 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		second.Release()
	})
}

// A call that is admitted at the moment it gives up holds nothing.
func TestCallAdmittedWhileGivingUpHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewConcurrencyLimiter()
		s := withConcurrency("key:a", 1, 1, time.Minute)
		for range 200 {
			first := acquire(t, g, s)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				p, _, _ := g.AcquireWait(ctx, []limits.Subject{s})
				p.Release()
			}()
			synctest.Wait()
			cancel()
			first.Release()
			synctest.Wait()
			wantInUse(t, g, "key:a", 0, 0)
		}
	})
}

// A permit that someone else times out stops waiting at once.
func TestTimedOutPermitStopsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewConcurrencyLimiter()
		s := []limits.Subject{withConcurrency("key:a", 1, 1, time.Minute)}
		first := acquire(t, g, s...)
		waits, busy := g.Acquire(s, nil)
		if busy != nil {
			t.Fatalf("%+v", busy)
		}
		refused := make(chan *limits.Busy)
		start := time.Now()
		go func() {
			busy, _ := waits.Wait(t.Context())
			refused <- busy
		}()
		synctest.Wait()
		if !waits.TimeOut() || waits.TimeOut() {
			t.Error("it is not refused exactly once")
		}
		if busy := <-refused; busy == nil || time.Since(start) != 0 {
			t.Errorf("%+v after %v", busy, time.Since(start))
		}
		first.Release()
	})
}

func BenchmarkConcurrency(b *testing.B) {
	g := limits.NewConcurrencyLimiter()
	of := []limits.Subject{withConcurrency("key:a", 10, 0, 0)}
	b.ReportAllocs()
	for b.Loop() {
		p, _, _ := g.AcquireWait(context.Background(), of)
		p.Release()
	}
}
