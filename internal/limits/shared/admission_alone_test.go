package shared_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
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

// A gateway whose cluster could not be opened may go on without one.
func TestLimiterOfAnEndedAdmissionIsLocal(t *testing.T) {
	g := startedAt(t, enginetest.Redis(t).Addr, still("a"))
	s := slots("key:a", 1, 0)
	enter(t, g, s).Permit.Release()
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := scripts(t, g)
	local, err := limits.NewLocalRates(t.Context(), nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		entry, err := g.limiter.Enter(t.Context(), local, []limits.Subject{s}, nil)
		if err != nil || entry.Permit == nil {
			t.Fatalf("%+v, %v", entry, err)
		}
		g.limiter.Restate(true)
		g.limiter.Recheck("key:a")
		g.limiter.Nodes(2, false)
		entry.Permit.Release()
	}
	if after := scripts(t, g); after != before {
		t.Errorf("%d messages", after-before)
	}
}
