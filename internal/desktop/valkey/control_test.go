//go:build unix

package valkey_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

func share(p *desktop.Policy) { p.OnConflict, p.MaxTokens = desktop.Share, 10_000 }

// joinAs opens a session of a key.
func joinAs(t testing.TB, g *desktop.Service, key string, agent bool) *desktop.Session {
	t.Helper()
	by := dev
	by.Key, by.Agent = key, agent
	return mustJoin(t, g, desktoptest.Issue(t, g, by, "desk1", desktop.Options{Shared: true}), viewer)
}

func act(x *desktop.Session) error { return x.Input.Act(func() error { return nil }) }

func wantHolder(t testing.TB, g *desktop.Service, holder, key string) {
	t.Helper()
	if c, err := g.Input.Of("default", "desk1"); err != nil || c.Holder != holder || c.Key != key {
		t.Errorf("held by %+v, %v; want %s %q", c, err, holder, key)
	}
}

func wantHeld(t testing.TB, err error, holder, key string) {
	t.Helper()
	wantFault(t, err, apierror.ControlHeld)
	var e *apierror.Error
	_ = errors.As(err, &e)
	var details desktop.ControlHeld
	if err := json.Unmarshal(e.Details, &details); err != nil || details.Holder != holder || details.Key != key {
		t.Errorf("held by %+v, %v; want %s %q", details, err, holder, key)
	}
}

func TestAPersonTakesTheInputFromAnAgentAtAnotherGateway(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		g := open(share)
		early := joinAs(t, g.b, "ann", false)
		if early.Input.Watched() {
			t.Error("no agent is there")
		}
		agent, second := joinAs(t, g.a, "bot", true), joinAs(t, g.b, "bot2", true)
		late := joinAs(t, g.b, "ben", false)
		letGo := 0
		agent.Input.OnLost(func() <-chan struct{} { letGo++; return nil })
		for range 2 {
			if err := act(agent); err != nil {
				t.Fatal(err)
			}
		}
		wantHolder(t, g.b, "agent", "bot")
		wantHeld(t, act(second), "agent", "bot")
		for _, x := range []*desktop.Session{early, late} {
			if !x.Input.Watched() || x.Input.Moves() {
				t.Error("an agent at another gateway holds the input")
			}
		}
		late.Input.Press()
		if letGo != 1 {
			t.Error("the press comes before the agent has let go")
		}
		for _, x := range []*desktop.Session{agent, second} {
			wantHeld(t, act(x), "human", "ben")
			wantHeld(t, x.Input.MayLook(), "human", "ben")
		}
		wantHolder(t, g.a, "human", "ben")
		if !early.Input.Moves() {
			t.Error("a person moves the pointer in vain")
		}
		if _, err := g.a.Input.Return(desktop.Issuer{Tenant: "default", Key: "ben"}, "desk1", false); err != nil {
			t.Fatal(err)
		}
		if err := act(agent); err != nil || !agent.Input.ChangedHands() || agent.Input.ChangedHands() {
			t.Error("it changed hands once: ", err)
		}
		if _, err := g.a.Input.Take(desktop.Issuer{Tenant: "default", Key: "ann"}, "desk1", ""); err != nil || letGo != 2 {
			t.Errorf("let go %d times; %v", letGo, err)
		}
		early.Leave()
		if err := act(second); err != nil || letGo != 2 {
			t.Error(err)
		}
		agent.Leave()
		second.Leave()
		if late.Input.Watched() {
			t.Error("the agents have gone")
		}
	})
}

// As at one gateway, with the person's session and the agents' at two. Return goes over either, and events take
// their time.
func TestNoEventOfAnAgentComesAfterAPersonsFirst(t *testing.T) {
	const rounds = 40
	_, a, b := two(t, share)
	s, seed := new(desktoptest.Server), rand.Uint64()
	t.Log("seed", seed)
	stop := make(chan struct{})
	var events, agents sync.WaitGroup
	t.Cleanup(events.Wait)
	a.node.late, b.node.late = events.Go, events.Go
	var sent, refused [2]int
	for i, g := range []*gateway{a, b} {
		name := fmt.Sprint("agent", i)
		x, random := joinAs(t, g.Service, name, true), rand.New(rand.NewPCG(seed, uint64(i)))
		agents.Go(func() { sent[i], refused[i] = s.RunAgent(x, name, random, stop) })
	}
	random := rand.New(rand.NewPCG(seed, 9))
	var person *desktop.Session
	for range rounds {
		if person == nil {
			person = joinAs(t, []*gateway{a, b}[random.IntN(2)].Service, "dev", false)
		}
		for range 1 + random.IntN(3) {
			for late := true; late; { // on a machine that is too busy to keep the second
				begun := time.Now()
				person.Input.Press()
				late = time.Since(begun) >= time.Second
			}
			s.Gets(desktoptest.Person, 'p', true)
			s.Gets(desktoptest.Person, 'p', false)
		}
		s.GivenBack()
		if random.IntN(3) == 0 {
			person.Leave()
			person = nil
		} else if _, err := []*gateway{a, b}[random.IntN(2)].Input.Return(dev, "desk1", false); err != nil {
			t.Fatal(err)
		}
		for person != nil && person.Input.Holder() == desktop.HolderHuman { // a press before that takes nothing: its gateway has not heard of the return
			runtime.Gosched()
		}
		for begun := s.Events(); s.Events() == begun && random.IntN(4) > 0; {
			runtime.Gosched()
		}
	}
	close(stop)
	agents.Wait()
	s.Want(t, false)
	if sent[0]+sent[1] < rounds || refused[0]+refused[1] < rounds {
		t.Errorf("%v sent and %v refused: nothing was interleaved", sent, refused)
	}
}

// An agent's event that its workstation does not take holds up neither news of other workstations nor lists.
func TestAnEventUnderWayHoldsUpNothingElse(t *testing.T) {
	_, a, b := two(t, share)
	agent := joinAs(t, b.Service, "bot", true)
	elsewhere := mustJoin(t, b.Service, issue(t, a.Service, "desk2", desktop.Options{}), viewer)
	begun, taken := make(chan struct{}), make(chan struct{})
	takes := sync.OnceFunc(func() { close(taken) })
	t.Cleanup(takes)
	acted := make(chan error, 1)
	go func() {
		acted <- agent.Input.Act(func() error {
			close(begun)
			<-taken
			return nil
		})
	}()
	<-begun
	told := make(chan error, 1)
	go func() { // events arrive at once here: it returns when b has heard of it
		_, err := a.Input.RequestHelp(dev, "desk1", "")
		release(t, a, "desk2")
		told <- err
	}()
	select {
	case err := <-told:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the news wait")
	}
	wantEnded(t, elsewhere, desktop.ReasonReleased)
	if open := b.OpenSessions(func(v desktop.SessionView) bool { return v.Holds }); len(open) != 1 || open[0].Key != "bot" {
		t.Errorf("%+v hold the input", open)
	}
	takes()
	if err := <-acted; err != nil {
		t.Error(err)
	}
}

// Over the engine's own events, and without a beat between: a person's press waits for the agent's gateway, and
// then the agent is refused.
func TestATakeoverIsHeardThroughTheEngine(t *testing.T) {
	redis, dsn := enginetest.Redis(t), enginetest.Postgres(t)
	a, _ := running(t, redis.Addr, dsn, "a")
	b, _ := running(t, redis.Addr, dsn, "b")
	key := func(name string, agent bool) desktop.Issuer {
		return desktop.Issuer{Tenant: "default", Key: name, Agent: agent}
	}
	options := desktop.Options{Shared: true}
	agent := mustJoin(t, a, desktoptest.Issue(t, a, key("bot", true), "desk1", options), viewer)
	person := mustJoin(t, b, desktoptest.Issue(t, b, key("ann", false), "desk1", options), other)
	for range 20 {
		retry(t, func() error { return act(agent) }) // it hears of the return in a moment
		begun := time.Now()
		person.Input.Press()
		took := time.Since(begun)
		if err := act(agent); took < time.Second {
			wantHeld(t, err, "human", "ann")
		}
		t.Log("the press took", took)
		if _, err := b.Input.Return(key("ann", false), "desk1", false); err != nil {
			t.Fatal(err)
		}
	}
}
