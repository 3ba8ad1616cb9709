package valkey_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// shortLease is that of nodes that die in a test.
var shortLease = cluster.Config{Lease: 600 * time.Millisecond, Beat: 100 * time.Millisecond}

func named(name string) cluster.Config {
	c := shortLease
	c.Node = name
	return c
}

// inUse is what a gateway reports of all.
func inUse(t *testing.T, g *peer, s limits.Subject) limits.ConcurrencyUse {
	t.Helper()
	uses, err := g.limiter.Read(t.Context(), []limits.Subject{s})
	if err != nil {
		t.Fatal(err)
	}
	return uses[0]
}

func TestSlotsOfADeadGatewayAreFree(t *testing.T) {
	e := enginetest.Redis(t)
	a, b := startedWith(t, e.Addr, named("a"), 0), startedWith(t, e.Addr, named("b"), 0)
	s := slots("key:a", 3, 5)
	for range 3 {
		if entry := enter(t, a, s); entry.Permit == nil || entry.Permit.Waiting() {
			t.Fatalf("%+v", entry)
		}
	}
	waits := enter(t, b, s).Permit
	if !waits.Waiting() {
		t.Fatal("more than the limit")
	}
	a.engine.Close() // the end of a
	if busy, err := waits.Wait(t.Context()); busy != nil || err != nil {
		t.Fatalf("%+v, %v", busy, err)
	}
	enginetest.Within(t, patience, "the slots of a are free", func() bool { return inUse(t, b, s).InUse == 1 })
	for range 2 {
		if entry := enter(t, b, s); entry.Permit == nil || entry.Permit.Waiting() {
			t.Fatalf("%+v", entry)
		}
	}
}

func TestPausedGatewayStatesItsCallsAgain(t *testing.T) {
	e := enginetest.Redis(t)
	way := enginetest.NewProxy(t, e.Addr)
	a, b := startedWith(t, way.Addr, named("a"), 0), startedWith(t, e.Addr, named("b"), 0)
	s := slots("key:a", 3, 0)
	var permits []*limits.Permit
	for range 2 {
		permits = append(permits, enter(t, a, s).Permit)
	}
	way.Hold()
	enginetest.Within(t, patience, "the slots of a are taken for free", func() bool { return inUse(t, b, s).InUse == 0 })
	for range 2 { // a's calls are above the limit until they end
		if entry := enter(t, b, s); entry.Permit == nil {
			t.Fatalf("%+v", entry)
		}
	}
	way.Pass()
	enginetest.Within(t, patience, "a has stated its calls", func() bool { return inUse(t, b, s).InUse == 4 })
	for _, g := range []*peer{a, b} {
		if entry := enter(t, g, s); entry.Busy == nil {
			t.Errorf("%+v", entry)
		}
	}
	for _, p := range permits {
		p.Release()
	}
	enginetest.Within(t, patience, "a's slots are free", func() bool { return inUse(t, b, s).InUse == 2 })
	enginetest.Within(t, patience, "one more is admitted", func() bool { return enter(t, a, s).Permit != nil })
	if entry := enter(t, b, s); entry.Busy == nil {
		t.Errorf("%+v", entry)
	}
}

// What a gateway states again does not wait for its next beat: these have none.
func TestGatewayWithANewIDStatesItsCallsAtOnce(t *testing.T) {
	e := enginetest.Redis(t)
	a, b := startedAt(t, e.Addr, still("a")), startedAt(t, e.Addr, still("b"))
	s := slots("key:a", 3, 0)
	for range 2 {
		enter(t, a, s)
	}
	old := a.node.ID()
	if _, err := a.engine.Do(t.Context(), "ZADD", a.node.Key("nodes"), "0", old); err != nil { // the end of its lease
		t.Fatal(err)
	}
	if err := b.Reap(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if use := inUse(t, b, s); use.InUse != 0 {
		t.Fatalf("%+v after the end of a gateway", use)
	}
	enter(t, a, slots("key:b", 3, 0)) // its message is refused
	enginetest.Within(t, patience, "the calls are known again", func() bool { return inUse(t, b, s).InUse == 2 })
	if id := a.node.ID(); id == old {
		t.Errorf("the gateway is still %s", id)
	}
}

func TestGatewayStatesAgainWhatAFailoverHasLost(t *testing.T) {
	a := startedAt(t, enginetest.Redis(t).Addr, still("a"))
	s := slots("key:a", 3, 0)
	for range 2 {
		enter(t, a, s)
	}
	quiet(t, a)
	for _, command := range [][]string{{"DEL", "g:key:a"}, {"SET", "e", "another"}} {
		if _, err := a.engine.Do(t.Context(), command[0], a.node.Key(command[1]), command[2:]...); err != nil {
			t.Fatal(err)
		}
	}
	money := cluster.NewScript("money", "return fence() or 0")
	if _, err := a.node.Run(t.Context(), money); !errors.Is(err, cluster.ErrFenced) {
		t.Fatal(err)
	}
	enginetest.Within(t, patience, "the calls are known again", func() bool { return inUse(t, a, s).InUse == 2 })
}

// The engine was restarted without its data.
func TestRestartedEngineLearnsWhatIsUsed(t *testing.T) {
	e := enginetest.Redis(t)
	a, b := startedWith(t, e.Addr, named("a"), 0), startedWith(t, e.Addr, named("b"), 0)
	s := slots("key:a", 3, 0)
	permit := enter(t, a, s).Permit
	enter(t, b, s)
	enter(t, b, s)
	e.Kill()
	e.MustStart(t)
	enginetest.Within(t, patience, "the calls are known again", func() bool {
		uses, err := a.limiter.Read(t.Context(), []limits.Subject{s})
		return err == nil && uses[0].InUse == 3 && a.logs.FilterMessageSnippet("answers again").Len() == a.logs.FilterMessageSnippet("does not").Len()
	})
	for _, g := range []*peer{a, b} {
		if entry := enter(t, g, s); entry.Busy == nil {
			t.Errorf("%+v", entry)
		}
	}
	permit.Release()
	enginetest.Within(t, patience, "one more is admitted", func() bool { return enter(t, b, s).Permit != nil })
}

func TestCallOfAnotherGatewayIsServedSoon(t *testing.T) {
	e := enginetest.Redis(t)
	a, b := startedAt(t, e.Addr, still("a")), startedAt(t, e.Addr, still("b"))
	s := slots("key:a", 1, 5)
	var took []time.Duration
	holds, other := enter(t, a, s).Permit, b
	for range 30 {
		waits := enter(t, other, s).Permit
		if !waits.Waiting() {
			t.Fatal("more than the limit")
		}
		quiet(t, a)
		began := time.Now()
		holds.Release()
		if busy, err := waits.Wait(t.Context()); busy != nil || err != nil {
			t.Fatalf("%+v, %v", busy, err)
		}
		took = append(took, time.Since(began))
		holds = waits
		if other = a; len(took)%2 == 0 {
			other = b
		}
	}
	late := 0
	for _, d := range took {
		if d > 100*time.Millisecond {
			late++
		}
	}
	if late > 1 {
		t.Errorf("%d of %d calls were served late: %v", late, len(took), took)
	}
}

// A gateway whose queue never ends leaves slots to others.
func TestBusyGatewayLeavesSlotsToOthers(t *testing.T) {
	e := enginetest.Redis(t)
	a, b := startedAt(t, e.Addr, still("a")), startedAt(t, e.Addr, still("b"))
	for _, limit := range []int{1, 3, 64} {
		s := slots("key:"+string(rune('0'+limit)), limit, 200)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range limit + 20 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					p := enter(t, a, s).Permit
					if _, err := p.Wait(t.Context()); err != nil {
						return
					}
					_, _ = a.engine.Do(t.Context(), "EXISTS", a.node.Key("e")) // a call takes some time
					p.Release()
				}
			})
		}
		enginetest.Within(t, patience, "a is full", func() bool { return inUse(t, a, s).Waiting > 0 })
		for i := range 20 {
			p := enter(t, b, s).Permit
			began := time.Now()
			if busy, err := p.Wait(t.Context()); busy != nil || err != nil {
				t.Fatalf("limit %d, call %d: %+v, %v", limit, i, busy, err)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("limit %d, call %d waited %v", limit, i, took)
			}
			p.Release()
		}
		close(stop)
		wg.Wait()
	}
}

// A gateway that got the only slot while another one waited serves its own queue no longer than until
// it has asked again.
func TestSlotGoesRoundBehindAQueue(t *testing.T) {
	e := enginetest.Redis(t)
	a, b := startedAt(t, e.Addr, still("a")), startedAt(t, e.Addr, still("b"))
	const calls = 20
	s, number := slots("key:a", 1, calls), uint64(0)
	other := func(w valkey.Want) int {
		number++
		w.Subject, w.Limit, w.Number = s.Name, 1, number
		shares, err := b.State(t.Context(), w)
		if err != nil || len(shares) != 1 {
			t.Fatalf("%+v, %v", shares, err)
		}
		return shares[0].Slots
	}
	if other(valkey.Want{Slots: 1}) != 1 {
		t.Fatal("a free slot is refused")
	}
	var waiting []*limits.Permit
	for range calls {
		waiting = append(waiting, enter(t, a, s).Permit)
	}
	other(valkey.Want{Slots: 1, Queued: 1, Gives: true}) // a gets it
	for i, p := range waiting {
		if busy, err := p.Wait(t.Context()); busy != nil || err != nil {
			t.Fatalf("%+v, %v", busy, err)
		}
		before := scripts(t, a)
		p.Release()
		enginetest.Within(t, patience, "a has asked again", func() bool { return scripts(t, a) > before })
		if other(valkey.Want{Slots: 1, Queued: 1}) == 1 {
			if i > 2 {
				t.Errorf("the call at b waited for %d calls at a", i+1)
			}
			return
		}
	}
	t.Errorf("all %d calls at a were served before the one at b", calls)
}
