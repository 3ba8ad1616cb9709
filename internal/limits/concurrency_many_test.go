package limits_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// A call that waits for a slot of one subject does not block calls of another.
func TestQueuedCallHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewConcurrencyLimiter()
		key, other, everybody := withConcurrency("key:a", 3, 0, 0), withConcurrency("key:b", 3, 0, 0), withConcurrency("gateway", 2, 0, 0)
		slow := withConcurrency("model:slow", 1, 10, time.Minute)
		running := acquire(t, g, slow, key, everybody)

		held := acquire(t, g, key, everybody)
		waits, busy := g.Acquire([]limits.Subject{slow}, held)
		if busy != nil || !waits.Waiting() || waits.TimeLeft() != time.Minute {
			t.Fatalf("%+v", busy)
		}
		wantInUse(t, g, "model:slow", 1, 1)
		wantInUse(t, g, "gateway", 1, 0)
		wantInUse(t, g, "key:a", 1, 0)
		passing := acquire(t, g, other, everybody)

		running.Release() // of the model and the gateway: the waiting call takes both
		if busy, err := waits.Wait(t.Context()); busy != nil || err != nil {
			t.Fatalf("%+v, %v", busy, err)
		}
		wantInUse(t, g, "model:slow", 1, 0)
		wantInUse(t, g, "gateway", 2, 0)
		wantInUse(t, g, "key:a", 1, 0)
		for _, p := range []*limits.Permit{passing, held, waits, waits} {
			p.Release()
		}
		if n := limits.Pools(g); n != 0 {
			t.Errorf("%d subjects are still held", n)
		}
	})
}

// A call that need not wait keeps its slots. A refused call keeps them too, until it releases them.
func TestAskingForMoreKeepsWhatIsHeld(t *testing.T) {
	g := limits.NewConcurrencyLimiter()
	key, model := withConcurrency("key:a", 2, 0, 0), withConcurrency("model:m", 1, 0, 0)
	first, second := acquire(t, g, key), acquire(t, g, key)
	more, busy := g.Acquire([]limits.Subject{model}, first)
	if busy != nil || more.Waiting() {
		t.Fatalf("%+v", busy)
	}
	wantInUse(t, g, "key:a", 2, 0)
	if _, busy := g.Acquire([]limits.Subject{model}, second); busy == nil || busy.Subject != "model:m" {
		t.Errorf("%+v", busy)
	}
	wantInUse(t, g, "key:a", 2, 0)
	for _, p := range []*limits.Permit{more, first, second} {
		p.Release()
	}
	wantInUse(t, g, "key:a", 0, 0)
}

// A slot of the model is useless without one of the gateway. A call that finds the gateway full
// moves to its queue, although the gateway allows no queue, and is ahead of later arrivals. Its
// queue timeout does not grow.
func TestQueuedCallMovesFromQueueToQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewConcurrencyLimiter()
		model, everybody := withConcurrency("model:slow", 1, 10, time.Minute), withConcurrency("gateway", 2, 0, 0)
		atModel := acquire(t, g, model)
		held := acquire(t, g, everybody)
		waits, _ := g.Acquire([]limits.Subject{model}, held)
		a, b := acquire(t, g, everybody), acquire(t, g, everybody)
		late, _ := g.Acquire([]limits.Subject{withConcurrency("gateway", 2, 10, time.Hour)}, nil)
		atModel.Release()
		wantInUse(t, g, "model:slow", 0, 0)
		wantInUse(t, g, "gateway", 2, 2)
		a.Release()
		wantInUse(t, g, "model:slow", 1, 0)
		wantInUse(t, g, "gateway", 2, 1)
		if busy, err := waits.Wait(t.Context()); busy != nil || err != nil {
			t.Fatalf("%+v, %v", busy, err)
		}
		waits.Release()
		if busy, err := late.Wait(t.Context()); busy != nil || err != nil {
			t.Fatalf("%+v, %v", busy, err)
		}

		c := acquire(t, g, withConcurrency("key:a", 1, 0, 0)) // both are full now, and the key allows less
		again, _ := g.Acquire([]limits.Subject{withConcurrency("gateway", 2, 1, time.Minute), withConcurrency("key:a", 1, 1, time.Second)}, nil)
		if again.TimeLeft() != time.Second {
			t.Errorf("waits for %v", again.TimeLeft())
		}
		if busy, err := again.Wait(t.Context()); busy == nil || busy.Subject != "gateway" || err != nil || again.Refused() != busy {
			t.Errorf("%+v, %v", busy, err)
		}
		c.Release()
		late.Release()
		b.Release()
		if n := limits.Pools(g); n != 0 {
			t.Errorf("%d subjects are still held", n)
		}
	})
}

// Random calls with changing limits: no call is admitted beyond a limit, no call waits that could
// run, and nothing is held when all have ended.
func TestConcurrencyHoldsUnderRandomCalls(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { anyCalls(t, rand.New(rand.NewPCG(seed, 0)), 2000) })
	}
}

// caller is one call: its permit, its permit with a model, and the subjects of both.
type caller struct {
	held, more *limits.Permit
	names      []string
}

func anyCalls(t *testing.T, random *rand.Rand, steps int) {
	g := limits.NewConcurrencyLimiter()
	limit := map[string]int{"key:a": 2, "key:b": 3, "tenant": 4, "model:m": 2, "model:n": 1, "gateway": 5}
	subject := func(name string) limits.Subject { return withConcurrency(name, limit[name], random.IntN(4), time.Hour) }
	var calls []*caller
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range steps {
		n := len(calls)
		before := map[string]int{}
		for name := range limit {
			before[name], _ = g.InUse(name)
		}
		switch what := random.IntN(10); {
		case what < 4:
			names := []string{[]string{"key:a", "key:b"}[random.IntN(2)], "tenant", "gateway"}
			if p, busy := g.Acquire([]limits.Subject{subject(names[0]), subject(names[1]), subject(names[2])}, nil); busy == nil {
				calls = append(calls, &caller{held: p, names: names})
			}
		case what < 6 && n > 0: // a model, acquired after the rest
			c := calls[random.IntN(n)]
			if c.more != nil || c.held.Waiting() {
				break
			}
			name := []string{"model:m", "model:n"}[random.IntN(2)]
			if more, busy := g.Acquire([]limits.Subject{subject(name)}, c.held); busy == nil {
				c.more, c.names = more, append(c.names, name)
			}
		case what < 7: // a reload
			name := []string{"key:a", "tenant", "model:m", "gateway"}[random.IntN(4)]
			limit[name] = 1 + random.IntN(5)
			if p, busy := g.Acquire([]limits.Subject{subject(name)}, nil); busy == nil {
				p.Release()
			}
		case n > 0:
			at := random.IntN(n)
			c := calls[at]
			calls = append(calls[:at], calls[at+1:]...)
			switch last := c.last(); {
			case random.IntN(3) == 0 && last.TimeOut():
				if last.Refused() == nil {
					t.Fatalf("%d: no reason", i)
				}
			case random.IntN(3) == 0 && last.Waiting():
				_, _ = last.Wait(ended)
			}
			c.more.Release()
			c.held.Release()
		}
		for name, most := range limit {
			if in, _ := g.InUse(name); in > max(most, before[name]) {
				t.Fatalf("%d: %s has %d calls under way, the limit is %d", i, name, in, most)
			}
		}
		checkNoNeedlessWait(t, i, g, limit, calls)
	}
	for _, c := range calls {
		c.more.Release()
		c.held.Release()
	}
	if n := limits.Pools(g); n != 0 {
		t.Fatalf("%d subjects are still held", n)
	}
}

func (c *caller) last() *limits.Permit {
	if c.more != nil {
		return c.more
	}
	return c.held
}

func checkNoNeedlessWait(t *testing.T, step int, g *limits.ConcurrencyLimiter, limit map[string]int, calls []*caller) {
	t.Helper()
	for _, c := range calls {
		if !limits.InQueue(c.last()) {
			continue
		}
		free := true
		for _, name := range c.names {
			in, _ := g.InUse(name)
			free = free && in < limit[name]
		}
		if free {
			t.Fatalf("%d: a call waits for free slots of %v", step, c.names)
		}
	}
}
