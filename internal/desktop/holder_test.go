package desktop_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

var once = desktop.Options{Shared: true, Once: true}

// The store forgets a workstation with its last session, while the connection of a viewer is still being
// closed. What it says afterwards is not older than what the gateway knows.
func TestTheInputOfAWorkstationThatWasForgottenCanBeHadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := shared(t, nil)
		before, agent := joinAs(t, d, "ann", false, once), joinAs(t, d, "bot", true, once)
		if err := act(agent); err != nil {
			t.Fatal(err)
		}
		before.Input.Press()
		agent.Leave()
		before.End(desktop.ReasonViewer)
		synctest.Wait()
		time.Sleep(time.Millisecond)               // numbers of holds are those of the clock where the store has none
		person := joinAs(t, d, "ann", false, once) // the page was loaded again
		before.Leave()
		agent = joinAs(t, d, "bot", true, once)
		if err := act(agent); err != nil {
			t.Error(err)
		}
		person.Input.Press()
		wantHeld(t, act(agent), "human", "ann")
		agent.Leave()
		person.Leave()
	})
}

// An agent's event that its workstation does not take holds up nobody elsewhere, and no question.
func TestAStuckEventOfAnAgentHoldsUpNoOtherWorkstation(t *testing.T) {
	d := shared(t, func(c *desktop.Config) {
		for i := range 300 { // several for each queue of changes
			c.Workstations = append(c.Workstations, desktop.Spec{ID: desktop.ID{Tenant: "default", Name: fmt.Sprint("other", i)}, Target: desktop.Target{TestCard: testcard.Serve}})
		}
	})
	agent := agentOf(t, d, "bot")
	begun, stuck, acts, issues := make(chan struct{}), make(chan struct{}), make(chan error), make(chan error)
	go func() {
		acts <- agent.Input.Act(func() error {
			close(begun)
			<-stuck
			return nil
		})
	}()
	<-begun
	go func() { // its change is made, and its news wait
		_, err := d.Issue(dev, "desk1", desktop.Options{})
		issues <- err
	}()
	for deadline := time.Now().Add(10 * time.Second); ; {
		if v, err := d.Get("default", "desk1"); err != nil || v.Tokens == 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no address is issued")
		}
		runtime.Gosched()
	}
	elsewhere := make(chan error, 1)
	go func() {
		var all error
		for i := range 300 {
			_, err := d.Issue(dev, fmt.Sprint("other", i), desktop.Options{})
			all = errors.Join(all, err)
		}
		_, err := d.Input.Of("default", "desk1")
		elsewhere <- errors.Join(all, err)
	}()
	select {
	case err := <-elsewhere:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("others wait")
	}
	close(stuck)
	if err := errors.Join(<-acts, <-issues); err != nil {
		t.Error(err)
	}
}

// forgetful is a store that has lost what it knew, once.
type forgetful struct {
	*memory.Store
	lost bool
}

// Load returns an empty workstation.
func (s *forgetful) Load(ctx context.Context, ids ...desktop.ID) ([]*desktop.Workstation, error) {
	if !s.lost {
		return s.Store.Load(ctx, ids...)
	}
	all := make([]*desktop.Workstation, len(ids))
	for i, id := range slices.All(ids) {
		all[i] = &desktop.Workstation{ID: id}
	}
	return all, nil
}

// A person's key stops the agents of its own gateway whatever the store has lost.
func TestAPersonTakesTheInputWhereTheStoreHasLostTheSession(t *testing.T) {
	store := &forgetful{Store: memory.New(time.Now)}
	d := shared(t, func(c *desktop.Config) { c.State = desktop.NewState(time.Now, store) })
	agent, person := agentOf(t, d, "bot"), personOf(t, d, "ann")
	if err := act(agent); err != nil {
		t.Fatal(err)
	}
	store.lost = true
	person.Input.Press()
	store.lost = false
	sent := false
	_ = agent.Input.Act(func() error { sent = true; return nil })
	if sent {
		t.Error("the agent acts after the person's key")
	}
}

// A source may have a workstation of any name: without this, a key could have any number of records made.
func TestHelpAtAWorkstationOfASourceIsAskedForWhereSomebodyIs(t *testing.T) {
	asking(t, func(t *testing.T, d *desktop.Service, _ *plane) {
		_, err := d.Input.RequestHelp(dev, "vm", "")
		wantFault(t, err, apierror.NotFound, "")
		x := mustJoin(t, d, desktoptest.Issue(t, d, dev, "vm", desktop.Options{}), viewer)
		if c, err := d.Input.RequestHelp(dev, "vm", ""); err != nil || len(c.Requests) != 1 {
			t.Errorf("%+v, %v", c, err)
		}
		x.Leave()
	})
}

// A reload that takes automation away ends what agents do, also in the middle of a run.
func TestAReloadEndsAgentsThatItDoesNotAllow(t *testing.T) {
	for rule, want := range map[desktop.Automation]struct{ looks, acts desktop.Reason }{
		desktop.AutomationControl: {"", ""},
		desktop.AutomationView:    {"", desktop.ReasonRemoved},
		desktop.AutomationOff:     {desktop.ReasonRemoved, desktop.ReasonRemoved},
		0:                         {desktop.ReasonRemoved, desktop.ReasonRemoved},
	} {
		old, again := reload(t)
		looks, acts, person := agentOf(t, old, "one"), agentOf(t, old, "two"), personOf(t, old, "ann")
		if err := act(acts); err != nil {
			t.Fatal(err)
		}
		next := again(func(c *desktop.Config) { c.Policy.Session.Automation = rule })
		desktop.Commit(old.State(), next, nil)
		if looks.Why() != want.looks || acts.Why() != want.acts || person.Why() != "" {
			t.Errorf("%q: one that looks %q, one that acts %q, a person %q", rule, looks.Why(), acts.Why(), person.Why())
		}
		desktop.Commit(old.State(), nil, nil)
	}
}
