package valkey_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	valkeyclient "github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

func enter(t testing.TB, g *peer, subjects ...limits.Subject) limits.Entry {
	t.Helper()
	entry, err := g.limiter.Enter(t.Context(), g, subjects, nil)
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

func slots(name string, limit, queue int) limits.Subject {
	return limits.Subject{Name: name, Concurrency: limits.Concurrency{Limit: limit, Queue: queue, Wait: patience}}
}

// While the engine is stopped, a gateway admits calls by itself, and none waits for long. When the
// engine goes on, limits are shared again.
func TestGatewayGoesOnWhileTheEngineIsStopped(t *testing.T) {
	e := enginetest.Redis(t)
	g := startedWith(t, e.Addr, cluster.Config{Node: "a"}, 0)
	s := rated(t, "key:a", "40/h", "1000 tokens/h")
	s.Concurrency = slots("", 3, 0).Concurrency
	for range 2 {
		if entry := enter(t, g, s); entry.Permit == nil {
			t.Fatalf("%+v", entry)
		}
	}
	if err := e.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Signal(syscall.SIGCONT) }()
	admitted := 0
	var last *limits.Permit
	for range 20 {
		began := time.Now()
		entry := enter(t, g, s)
		if took := time.Since(began); took > time.Second {
			t.Errorf("a call waited %v", took)
		}
		if entry.Permit != nil {
			admitted++
			last = entry.Permit
		}
	}
	if admitted != 1 { // two of three slots are taken
		t.Errorf("%d calls were admitted", admitted)
	}
	if _, grant, refusal, err := g.Tokens(t.Context(), 1000, []limits.Subject{s}); err != nil || refusal != nil {
		t.Errorf("tokens: %+v, %v", refusal, err)
	} else {
		grant.Adjust(900)
	}
	if _, _, refusal, err := g.Tokens(t.Context(), 101, []limits.Subject{s}); err != nil || refusal == nil || refusal.Never || refusal.Rate.Limit != 1000 {
		t.Errorf("more tokens: %+v, %v", refusal, err)
	}
	if uses, err := g.Read(t.Context(), []limits.Subject{s}); err != nil || uses[1].Used != 900 {
		t.Errorf("%+v, %v", uses, err)
	}
	last.Release()
	if err := e.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	enginetest.Within(t, patience, "the limits are shared again", func() bool { return g.logs.Len() == 2 })
	for i, part := range []string{"does not answer", "answers again"} {
		if message := g.logs.All()[i].Message; !strings.Contains(message, part) {
			t.Errorf("%q is logged, want %q", message, part)
		}
	}
	uses := func() limits.ConcurrencyUse {
		use, err := g.limiter.Read(t.Context(), []limits.Subject{s})
		if err != nil {
			t.Fatal(err)
		}
		return use[0]
	}
	enginetest.Within(t, patience, "its calls are known", func() bool { return uses().InUse == 2 })
	if entry := enter(t, g, s); entry.Permit == nil {
		t.Errorf("%+v", entry)
	}
	if entry := enter(t, g, s); entry.Busy == nil {
		t.Errorf("%+v", entry)
	}
}

// Without the engine, each gateway has its part of each limit, rounded up, also one that has just
// started.
func TestGatewaysHaveTheirPartsWhileTheEngineIsStopped(t *testing.T) {
	e := enginetest.Redis(t)
	var all []*peer
	for _, name := range []string{"a", "b"} {
		c := shortLease
		c.Node, c.Lease = name, time.Minute
		all = append(all, startedWith(t, e.Addr, c, 0))
	}
	for _, g := range all {
		enginetest.Within(t, patience, "all know each other", func() bool { return len(g.node.Nodes()) == len(all) })
	}
	all = append(all, startedWith(t, e.Addr, still("c"), 0)) // the others may not know it yet
	if n := len(all[2].node.Nodes()); n != 3 {
		t.Fatalf("the last one knows %d", n)
	}
	if err := e.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Signal(syscall.SIGCONT) }()
	rate, slot := rated(t, "key:rate", "10/h", "90 tokens/h"), slots("key:slots", 9, 0)
	for i, g := range all {
		rates, tokens, places := 0, 0, 0
		for range 12 {
			entry := enter(t, g, rate)
			if entry.Over == nil {
				rates++
			} else if entry.Over.Rate != rate.Rates[0] {
				t.Errorf("gateway %d shows the rate %s", i, entry.Over.Rate)
			}
			if _, _, refusal, err := g.Tokens(t.Context(), 10, []limits.Subject{rate}); err == nil && refusal == nil {
				tokens += 10
			}
			if enter(t, g, slot).Busy == nil {
				places++
			}
		}
		nodes := len(g.node.Nodes())
		if want := (10 + nodes - 1) / nodes; rates != want {
			t.Errorf("gateway %d of %d admits %d of 10 requests, want %d", i, nodes, rates, want)
		}
		if want := (90 + nodes - 1) / nodes / 10 * 10; tokens != want {
			t.Errorf("gateway %d of %d admits %d of 90 tokens, want %d", i, nodes, tokens, want)
		}
		if want := (9 + nodes - 1) / nodes; places != want {
			t.Errorf("gateway %d of %d admits %d of 9 calls at once, want %d", i, nodes, places, want)
		}
	}
}

// A gateway that starts while the engine is away has its part too, and the part changes with the number
// of gateways.
func TestGatewayThatStartsWithoutTheEngineHasItsPart(t *testing.T) {
	e := enginetest.Redis(t)
	e.Kill()
	var nodes atomic.Int64
	nodes.Store(3)
	c := still("a")
	c.Expected = func() int { return int(nodes.Load()) }
	g := startedWith(t, e.Addr, c, 0)
	rate, slot := rated(t, "key:rate", "10/h"), slots("key:slots", 9, 0)
	rates, places := 0, 0
	for range 12 {
		if enter(t, g, rate).Over == nil {
			rates++
		}
		if enter(t, g, slot).Busy == nil {
			places++
		}
	}
	if rates != 4 || places != 3 {
		t.Errorf("%d of 10 requests and %d of 9 calls at once are admitted", rates, places)
	}
	nodes.Store(2)
	enginetest.Within(t, patience, "it has a larger part", func() bool { return enter(t, g, slot).Busy == nil })
}

// What an outage loses is logged once at its begin, and counted at its end.
func TestCorrectionsWithoutRoomAreLogged(t *testing.T) {
	e := enginetest.Redis(t)
	g := startedWith(t, e.Addr, still("a"), 0)
	s := rated(t, "key:a", "1M tokens/h")
	enter(t, g, slots("key:b", 3, 0)) // the connection and the script are there
	if err := e.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Signal(syscall.SIGCONT) }()
	enginetest.Within(t, patience, "the gateway decides alone", func() bool {
		enter(t, g, slots("key:b", 3, 0)).Permit.Release()
		return g.logs.Len() == 1
	})
	g.Correct(s, valkey.MostCorrections+10)
	if err := e.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	enginetest.Within(t, patience, "the engine answers again", func() bool { return g.logs.FilterMessageSnippet("answers again").Len() == 1 })
	if n := g.logs.FilterMessageSnippet("too many corrections").Len(); n != 1 {
		t.Errorf("that corrections are lost is logged %d times", n)
	}
	if lost := g.logs.FilterMessageSnippet("answers again").All()[0].ContextMap()["corrections_lost"]; lost != int64(10) {
		t.Errorf("%v corrections were lost", lost)
	}
	enginetest.Within(t, patience, "the others are counted", func() bool {
		return used(t, g, s) == valkey.MostCorrections
	})
}

// What was surely not sent is sent when the engine is back.
func TestCorrectionsWaitForTheEngine(t *testing.T) {
	e := enginetest.Redis(t)
	g := startedWith(t, e.Addr, still("a"), 0)
	s := rated(t, "key:a", "1000 tokens/h")
	quiet(t, g)
	e.Kill()
	enginetest.Within(t, patience, "the connection is lost", func() bool {
		_, err := g.engine.Do(t.Context(), "EXISTS", g.node.Key("e"))
		return errors.Is(err, valkeyclient.ErrNotDone)
	})
	g.Correct(s, 5)
	e.MustStart(t)
	enginetest.Within(t, patience, "they are counted", func() bool { return used(t, g, s) == 5 })
}

// A gateway whose cluster could not be opened may go on without one.
func TestLimiterOfAnEndedAdmissionIsLocal(t *testing.T) {
	g := startedAt(t, enginetest.Redis(t).Addr, still("a"))
	s := slots("key:a", 1, 0)
	enter(t, g, s).Permit.Release()
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := scripts(t, g)
	local, err := sqlite.NewRates(t.Context(), nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		entry, err := g.limiter.Enter(t.Context(), local, []limits.Subject{s}, nil)
		if err != nil || entry.Permit == nil {
			t.Fatalf("%+v, %v", entry, err)
		}
		g.Rechecked(2)
		entry.Permit.Release()
	}
	if after := scripts(t, g); after != before {
		t.Errorf("%d messages", after-before)
	}
}
