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

// Who waits for a place of one subject keeps nobody out of another.
func TestWhoWaitsHoldsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewGate()
		key, other, everybody := crowded("key:a", 3, 0, 0), crowded("key:b", 3, 0, 0), crowded("gateway", 2, 0, 0)
		slow := crowded("model:slow", 1, 10, time.Minute)
		running := enter(t, g, slow, key, everybody)

		held := enter(t, g, key, everybody)
		waits, busy := g.Ask([]limits.Subject{slow}, held)
		if busy != nil || !waits.Waits() || waits.Patience() != time.Minute {
			t.Fatalf("%+v", busy)
		}
		inside(t, g, "model:slow", 1, 1)
		inside(t, g, "gateway", 1, 0)
		inside(t, g, "key:a", 1, 0)
		passing := enter(t, g, other, everybody)

		running.Leave() // of the model and the gateway: the one who waits takes both
		if busy, err := waits.Wait(t.Context()); busy != nil || err != nil {
			t.Fatalf("%+v, %v", busy, err)
		}
		inside(t, g, "model:slow", 1, 0)
		inside(t, g, "gateway", 2, 0)
		inside(t, g, "key:a", 1, 0)
		for _, p := range []*limits.Permit{passing, held, waits, waits} {
			p.Leave()
		}
		if n := limits.Rooms(g); n != 0 {
			t.Errorf("%d rooms are left", n)
		}
	})
}

// Who need not wait keeps what it has, and who is refused too, until it leaves.
func TestAskingForMoreKeepsWhatIsHeld(t *testing.T) {
	g := limits.NewGate()
	key, model := crowded("key:a", 2, 0, 0), crowded("model:m", 1, 0, 0)
	first, second := enter(t, g, key), enter(t, g, key)
	more, busy := g.Ask([]limits.Subject{model}, first)
	if busy != nil || more.Waits() {
		t.Fatalf("%+v", busy)
	}
	inside(t, g, "key:a", 2, 0)
	if _, busy := g.Ask([]limits.Subject{model}, second); busy == nil || busy.Subject != "model:m" {
		t.Errorf("%+v", busy)
	}
	inside(t, g, "key:a", 2, 0)
	for _, p := range []*limits.Permit{more, first, second} {
		p.Leave()
	}
	inside(t, g, "key:a", 0, 0)
}

// A place at the model is of no use without one at the gateway: who finds that full goes on to wait there, though the
// gateway has no queue, and before those who came later. It does not wait longer for that.
func TestWhoWaitsGoesFromQueueToQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := limits.NewGate()
		model, everybody := crowded("model:slow", 1, 10, time.Minute), crowded("gateway", 2, 0, 0)
		atModel := enter(t, g, model)
		held := enter(t, g, everybody)
		waits, _ := g.Ask([]limits.Subject{model}, held)
		a, b := enter(t, g, everybody), enter(t, g, everybody)
		late, _ := g.Ask([]limits.Subject{crowded("gateway", 2, 10, time.Hour)}, nil)
		atModel.Leave()
		inside(t, g, "model:slow", 0, 0)
		inside(t, g, "gateway", 2, 2)
		a.Leave()
		inside(t, g, "model:slow", 1, 0)
		inside(t, g, "gateway", 2, 1)
		if busy, err := waits.Wait(t.Context()); busy != nil || err != nil {
			t.Fatalf("%+v, %v", busy, err)
		}
		waits.Leave()
		if busy, err := late.Wait(t.Context()); busy != nil || err != nil {
			t.Fatalf("%+v, %v", busy, err)
		}

		c := enter(t, g, crowded("key:a", 1, 0, 0)) // both are full now, and the key allows less
		again, _ := g.Ask([]limits.Subject{crowded("gateway", 2, 1, time.Minute), crowded("key:a", 1, 1, time.Second)}, nil)
		if again.Patience() != time.Second {
			t.Errorf("waits for %v", again.Patience())
		}
		if busy, err := again.Wait(t.Context()); busy == nil || busy.Subject != "gateway" || err != nil || again.Refused() != busy {
			t.Errorf("%+v, %v", busy, err)
		}
		c.Leave()
		late.Leave()
		b.Leave()
		if n := limits.Rooms(g); n != 0 {
			t.Errorf("%d rooms are left", n)
		}
	})
}

// Whatever calls do, with limits that change meanwhile: nobody is let in beyond a limit, nobody waits who could go in,
// and when all have left nothing is held.
func TestGateHoldsWhateverCallsDo(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { anyCalls(t, rand.New(rand.NewPCG(seed, 0)), 2000) })
	}
}

// caller is a call: its permit, the one with a model, and the subjects of both.
type caller struct {
	held, more *limits.Permit
	names      []string
}

func anyCalls(t *testing.T, random *rand.Rand, steps int) {
	g := limits.NewGate()
	limit := map[string]int{"key:a": 2, "key:b": 3, "tenant": 4, "model:m": 2, "model:n": 1, "gateway": 5}
	subject := func(name string) limits.Subject { return crowded(name, limit[name], random.IntN(4), time.Hour) }
	var calls []*caller
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range steps {
		n := len(calls)
		before := map[string]int{}
		for name := range limit {
			before[name], _ = g.Inside(name)
		}
		switch what := random.IntN(10); {
		case what < 4:
			names := []string{[]string{"key:a", "key:b"}[random.IntN(2)], "tenant", "gateway"}
			if p, busy := g.Ask([]limits.Subject{subject(names[0]), subject(names[1]), subject(names[2])}, nil); busy == nil {
				calls = append(calls, &caller{held: p, names: names})
			}
		case what < 6 && n > 0: // a model after the rest
			c := calls[random.IntN(n)]
			if c.more != nil || c.held.Waits() {
				break
			}
			name := []string{"model:m", "model:n"}[random.IntN(2)]
			if more, busy := g.Ask([]limits.Subject{subject(name)}, c.held); busy == nil {
				c.more, c.names = more, append(c.names, name)
			}
		case what < 7: // a reload
			name := []string{"key:a", "tenant", "model:m", "gateway"}[random.IntN(4)]
			limit[name] = 1 + random.IntN(5)
			if p, busy := g.Ask([]limits.Subject{subject(name)}, nil); busy == nil {
				p.Leave()
			}
		case n > 0:
			at := random.IntN(n)
			c := calls[at]
			calls = append(calls[:at], calls[at+1:]...)
			switch last := c.last(); {
			case random.IntN(3) == 0 && last.GiveUp():
				if last.Refused() == nil {
					t.Fatalf("%d: no reason", i)
				}
			case random.IntN(3) == 0 && last.Waits():
				_, _ = last.Wait(ended)
			}
			c.more.Leave()
			c.held.Leave()
		}
		for name, most := range limit {
			if in, _ := g.Inside(name); in > max(most, before[name]) {
				t.Fatalf("%d: %s has %d inside, the limit is %d", i, name, in, most)
			}
		}
		nobodyWaitsForNothing(t, i, g, limit, calls)
	}
	for _, c := range calls {
		c.more.Leave()
		c.held.Leave()
	}
	if n := limits.Rooms(g); n != 0 {
		t.Fatalf("%d rooms are left", n)
	}
}

func (c *caller) last() *limits.Permit {
	if c.more != nil {
		return c.more
	}
	return c.held
}

func nobodyWaitsForNothing(t *testing.T, step int, g *limits.Gate, limit map[string]int, calls []*caller) {
	t.Helper()
	for _, c := range calls {
		if !limits.InQueue(c.last()) {
			continue
		}
		free := true
		for _, name := range c.names {
			in, _ := g.Inside(name)
			free = free && in < limit[name]
		}
		if free {
			t.Fatalf("%d: a call waits for places in %v that are free", step, c.names)
		}
	}
}
