//go:build unix

package valkey_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// The events between gateways are lost: the next beat tells the agent's, and the person waits a second at most.
func TestALostEventOfATakeoverIsMendedByTheNextBeat(t *testing.T) {
	e, a, b := two(t, share)
	agent, person := joinAs(t, a.Service, "bot", true), joinAs(t, b.Service, "ann", false)
	if err := act(agent); err != nil {
		t.Fatal(err)
	}
	e.bus.hold()
	begun := time.Now()
	if person.Input.Press(); time.Since(begun) > 3*time.Second {
		t.Error("the person waits for ever")
	}
	a.beat(t)
	wantHeld(t, act(agent), "human", "ann")
	begun = time.Now()
	b.beat(t) // it has heard of that
	for a.beat(t); ; b.beat(t) {
		if person.Input.Press(); time.Since(begun) < 500*time.Millisecond {
			break
		}
		if begun = time.Now(); t.Context().Err() != nil {
			t.Fatal("each key waits")
		}
	}
	if _, err := b.Input.Return(desktop.Issuer{Tenant: "default", Key: "ann"}, "desk1", false); err != nil {
		t.Fatal(err)
	}
	wantHeld(t, act(agent), "human", "ann")
	a.beat(t)
	if err := act(agent); err != nil {
		t.Error(err)
	}
}

// Without the engine a person is never locked out, and agents of the same gateway stop.
func TestAPersonTakesTheInputWithoutTheEngine(t *testing.T) {
	_, a, _ := two(t, share)
	agent, person := joinAs(t, a.Service, "bot", true), joinAs(t, a.Service, "ann", false)
	letGo := 0
	agent.Input.OnLost(func() <-chan struct{} { letGo++; return nil })
	if err := act(agent); err != nil {
		t.Fatal(err)
	}
	a.node.before = func(string) error { return errors.New("no engine") }
	for range 2 {
		person.Input.Press()
	}
	wantHeld(t, act(agent), "human", "ann")
	if letGo != 1 {
		t.Error("it holds its keys")
	}
	a.node.before = nil
	a.beat(t)
	wantHolder(t, a.Service, "human", "ann")
}

// The engine has lost everything: who holds the input is told again.
func TestAnEmptyEngineGetsTheHolderBack(t *testing.T) {
	e, a, b := two(t, share)
	agent, person := joinAs(t, a.Service, "bot", true), joinAs(t, b.Service, "ann", false)
	person.Input.Press()
	e.redis.Kill()
	e.redis.MustStart(t)
	for range 2 {
		for _, g := range []*gateway{a, b} {
			g.renew(t)
			if err := g.node.part.Replay(t.Context(), true); err != nil {
				t.Fatal(err)
			}
			g.beat(t)
		}
	}
	wantHeld(t, act(agent), "human", "ann")
	retry(t, func() error {
		c, err := a.Input.Of("default", "desk1")
		if err == nil && c.Holder != "human" {
			err = fmt.Errorf("held by %+v", c)
		}
		return err
	})
	person.Leave()
	if err := act(agent); err != nil || !agent.Input.ChangedHands() {
		t.Error(err)
	}
}

// A person's gateway that dies gives back what the person held.
func TestTheInputOfADeadGatewayIsFree(t *testing.T) {
	e, a, b := two(t, share)
	agent, person := joinAs(t, a.Service, "bot", true), joinAs(t, b.Service, "ann", false)
	person.Input.Press()
	wantHeld(t, act(agent), "human", "ann")
	e.Move(16 * time.Second)
	a.beat(t)
	if err := a.node.part.Reap(t.Context(), b.node.ID()); err != nil {
		t.Fatal(err)
	}
	if err := act(agent); err != nil {
		t.Error(err)
	}
}
