package desktop_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

// shared is a service whose sessions all stand beside each other.
func shared(t testing.TB, change func(*desktop.Config)) *desktop.Service {
	t.Helper()
	return open(t, func(c *desktop.Config) {
		c.OnConflict = desktop.Share
		if change != nil {
			change(c)
		}
	})
}

// joinAs opens a session of a key.
func joinAs(t testing.TB, d *desktop.Service, key string, agent bool, o desktop.Options) *desktop.Session {
	t.Helper()
	by := dev
	by.Key, by.Agent = key, agent
	return mustJoin(t, d, desktoptest.Issue(t, d, by, "desk1", o), viewer)
}

func agentOf(t testing.TB, d *desktop.Service, key string) *desktop.Session {
	t.Helper()
	return joinAs(t, d, key, true, desktop.Options{Shared: true})
}

func personOf(t testing.TB, d *desktop.Service, key string) *desktop.Session {
	t.Helper()
	return joinAs(t, d, key, false, desktop.Options{Shared: true})
}

// act sends nothing, and reports whether it was let through.
func act(x *desktop.Session) error { return x.Input.Act(func() error { return nil }) }

// wantHeld fails unless an agent was refused because of somebody.
func wantHeld(t testing.TB, err error, holder, key string) {
	t.Helper()
	wantFault(t, err, apierror.ControlHeld, "")
	var e *apierror.Error
	_ = errors.As(err, &e)
	var details desktop.ControlHeld
	if err := json.Unmarshal(e.Details, &details); err != nil || details.Holder != holder || details.Key != key || details.Workstation != "desk1" || details.Since.IsZero() {
		t.Errorf("held by %+v, %v; want %s %q", details, err, holder, key)
	}
	if free := map[string]string{"human": "gives it back", "agent": "a minute after that agent's last call"}[holder]; !strings.Contains(e.Message, free) {
		t.Errorf("it does not say when it is free: %s", e.Message)
	}
}

func wantControl(t testing.TB, d *desktop.Service, holder, key string) desktop.Control {
	t.Helper()
	c, err := d.Input.Of("default", "desk1")
	if err != nil || c.Holder != holder || c.Key != key {
		t.Errorf("held by %+v, %v; want %s %q", c, err, holder, key)
	}
	return c
}

func TestTheFirstAgentThatActsHoldsTheInput(t *testing.T) {
	d := shared(t, nil)
	one, two := agentOf(t, d, "one"), agentOf(t, d, "two")
	wantControl(t, d, "none", "")
	failed := errors.New("the server is gone")
	if err := one.Input.Act(func() error { return failed }); err != failed {
		t.Error(err)
	}
	wantControl(t, d, "agent", "one")
	wantHeld(t, act(two), "agent", "one")
	if err := two.Input.MayLook(); err != nil {
		t.Error(err)
	}
	one.Leave()
	wantControl(t, d, "none", "")
	if err := act(two); err != nil {
		t.Error(err)
	}
	if one.Input.ChangedHands() || two.Input.ChangedHands() {
		t.Error("no person has had the input")
	}
}

// The workstation gets the events of persons and of agents by connections of their own.
func TestAPressWaitsUntilTheWorkstationHasTakenWhatAnAgentSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := shared(t, nil)
		agent, people := agentOf(t, d, "bot"), []*desktop.Session{personOf(t, d, "ann"), personOf(t, d, "bystander")}
		for _, c := range []struct{ takes, want time.Duration }{{0, 0}, {300 * time.Millisecond, 300 * time.Millisecond}, {time.Hour, time.Second}} {
			taken := make(chan struct{})
			agent.Input.OnLost(func() <-chan struct{} {
				time.AfterFunc(c.takes, func() { close(taken) })
				return taken
			})
			if err := act(agent); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			var presses sync.WaitGroup
			for _, person := range people {
				presses.Go(func() {
					if person.Input.Press(); time.Since(begun) != c.want {
						t.Errorf("a press waits for %v, want %v", time.Since(begun), c.want)
					}
				})
			}
			presses.Wait()
			if _, err := d.Input.Return(dev, "desk1", true); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Hour)
		}
	})
}

func TestAPressOfAPersonTakesTheInput(t *testing.T) {
	d := shared(t, nil)
	bystander := personOf(t, d, "bystander")
	if bystander.Input.Watched() {
		t.Error("no agent is there")
	}
	agent := agentOf(t, d, "bot")
	person := personOf(t, d, "ann")
	if !person.Input.Watched() || !bystander.Input.Watched() || !person.Input.Moves() {
		t.Error("an agent is there, and has done nothing")
	}
	letGo := 0
	agent.Input.OnLost(func() <-chan struct{} { letGo++; return nil })
	if err := act(agent); err != nil {
		t.Fatal(err)
	}
	if person.Input.Moves() {
		t.Error("two pointers fight")
	}
	wantControl(t, d, "agent", "bot")
	person.Input.Press()
	person.Input.Press()
	if letGo != 1 || !person.Input.Moves() {
		t.Errorf("the agent has let go %d times", letGo)
	}
	wantHeld(t, act(agent), "human", "ann")
	wantHeld(t, agent.Input.MayLook(), "human", "ann")
	bystander.Input.Press() // another person types too: nothing changes hands
	if c := wantControl(t, d, "human", "ann"); c.Session != person.ID {
		t.Errorf("%+v", c)
	}
	person.Leave()
	wantControl(t, d, "none", "")
	for _, want := range []bool{true, false} {
		if err := errors.Join(act(agent), agent.Input.MayLook()); err != nil || agent.Input.ChangedHands() != want {
			t.Errorf("%v; want that it changed hands: %v", err, want)
		}
	}
	if letGo != 1 {
		t.Error("it lets go of what it has not held")
	}
	agent.Leave()
	if bystander.Input.Watched() {
		t.Error("the agent has gone")
	}
}

func TestAPersonWhoDoesNothingGivesTheInputBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var holders []any
		d := shared(t, func(c *desktop.Config) {
			c.ReturnAfter = time.Minute
			c.Emit = func(event string, data map[string]any) {
				if event == desktop.EventControl {
					holders = append(holders, data["holder"])
				}
			}
		})
		agent, person := agentOf(t, d, "bot"), personOf(t, d, "ann")
		for name, input := range map[string]func(){"keys": person.Input.Press, "movement": func() { person.Input.Moves() }} {
			holders = nil
			person.Input.Press()
			for pause := 5 * time.Second; pause < time.Minute; pause += 7 * time.Second {
				time.Sleep(pause)
				wantHeld(t, act(agent), "human", "ann")
				input()
			}
			time.Sleep(time.Minute - 1)
			wantHeld(t, act(agent), "human", "ann")
			wantHeld(t, agent.Input.MayLook(), "human", "ann")
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			wantControl(t, d, "none", "")
			if err := act(agent); err != nil {
				t.Error(name, err)
			}
			if want := []any{"human", "none", "agent"}; !slices.Equal(holders, want) {
				t.Errorf("%s: events %v", name, holders)
			}
		}
		person.Leave()
		agent.Leave()
	})
}

func TestAgentsMaySeeWhatAPersonDoesWhereTheConfigurationSaysSo(t *testing.T) {
	d := shared(t, func(c *desktop.Config) { c.ScreenshotsDuringHold = true })
	agent, person := agentOf(t, d, "bot"), personOf(t, d, "ann")
	person.Input.Press()
	if err := agent.Input.MayLook(); err != nil {
		t.Error(err)
	}
	wantHeld(t, act(agent), "human", "ann")
}

func TestAPersonTakesAndReturnsTheInputByRequest(t *testing.T) {
	d := shared(t, nil)
	agent, person := agentOf(t, d, "ann"), personOf(t, d, "ann") // the agent has the person's key
	only := joinAs(t, d, "eve", false, desktop.Options{Shared: true, Rules: desktop.SessionRules{ViewOnly: true}})
	if err := act(agent); err != nil {
		t.Fatal(err)
	}
	key := func(name string) desktop.Issuer { by := dev; by.Key = name; return by }
	for _, by := range []string{"eve", "nobody"} {
		_, err := d.Input.Take(key(by), "desk1", "")
		wantFault(t, err, apierror.NotFound, "")
	}
	_, err := d.Input.Take(key("ann"), "desk1", agent.ID)
	wantFault(t, err, apierror.NotFound, "")
	_, err = d.Input.Take(key("eve"), "desk1", only.ID)
	wantFault(t, err, apierror.NotFound, "")
	_, err = d.Input.Take(key("ann"), "elsewhere", "")
	wantFault(t, err, apierror.NotFound, "")

	if c, err := d.Input.Take(key("ann"), "desk1", ""); err != nil || c.Holder != "human" || c.Session != person.ID || !c.Until.After(c.Since) {
		t.Errorf("%+v, %v", c, err)
	}
	wantHeld(t, act(agent), "human", "ann")
	_, err = d.Input.Return(key("eve"), "desk1", false)
	wantHeld(t, err, "human", "ann")
	if c, err := d.Input.Return(key("ann"), "desk1", false); err != nil || c.Holder != "none" {
		t.Errorf("%+v, %v", c, err)
	}
	if err := act(agent); err != nil {
		t.Error(err)
	}
	person.Input.Press()
	if c, err := d.Input.Return(key("eve"), "desk1", true); err != nil || c.Holder != "none" {
		t.Errorf("one who manages workstations: %+v, %v", c, err)
	}
	if c, err := d.Input.Return(key("eve"), "desk1", false); err != nil || c.Holder != "none" {
		t.Errorf("nobody has it: %+v, %v", c, err)
	}
}

// Whoever may not type changes nothing: its keys do not get so far. A guest who may type is a person.
func TestAGuestWhoMayTypeTakesTheInput(t *testing.T) {
	d := shared(t, nil)
	host, agent := personOf(t, d, "ann"), agentOf(t, d, "bot")
	if err := act(agent); err != nil {
		t.Fatal(err)
	}
	label, _ := guestOf(t, d, host, desktop.Options{})
	guest := mustJoin(t, d, label, other)
	guest.Input.Press()
	wantHeld(t, act(agent), "human", "dev")
	guest.Leave()
	if err := act(agent); err != nil {
		t.Error(err)
	}
}
