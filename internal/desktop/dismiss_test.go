package desktop_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func TestAnotherMachineEndsWhatWasIssuedForTheOneBefore(t *testing.T) {
	asking(t, func(t *testing.T, d *desktop.Service, p *plane) {
		used, _ := issue(t, d, "lab1", desktop.Options{})
		unused, _ := issue(t, d, "lab1", desktop.Options{})
		x := enter(t, d, used)
		p.say(allow("vm-2", ""))
		issue(t, d, "lab1", desktop.Options{})
		wantOpen(t, x) // the answer counts for 30 seconds
		time.Sleep(30 * time.Second)
		moved, _ := issue(t, d, "lab1", desktop.Options{})
		wantEnded(t, x, desktop.ReasonReleased)
		for _, label := range []string{used, unused} {
			_, err := d.Find(label, viewer.Addr())
			wantRefusal(t, err, desktop.RefusedReleased)
		}
		wantLocated(t, d, moved)
	})
}

func TestAViewerFindsOutThatAnotherMachineHasTheName(t *testing.T) {
	asking(t, func(t *testing.T, d *desktop.Service, p *plane) {
		first, _ := issue(t, d, "lab1", desktop.Options{})
		second, _ := issue(t, d, "lab1", desktop.Options{})
		x := enter(t, d, first)
		p.say(allow("vm-2", ""))
		time.Sleep(30 * time.Second)
		wantNotLocated(t, d, second, desktop.RefusedReleased)
		wantEnded(t, x, desktop.ReasonReleased)
	})
}

// A machine that has moved keeps its sessions.
func TestTheSameMachineMayMove(t *testing.T) {
	asking(t, func(t *testing.T, d *desktop.Service, p *plane) {
		label, _ := issue(t, d, "lab1", desktop.Options{})
		x := enter(t, d, label)
		p.say(`{"decision":"allow","address":"10.20.0.77:5901","generation":"vm-1"}`)
		time.Sleep(time.Minute)
		next, _ := issue(t, d, "lab1", desktop.Options{})
		wantOpen(t, x)
		if pass, refusal := locate(t, d, next); refusal != nil || pass.Target.Address != "10.20.0.77:5901" {
			t.Error(refusal)
		}
	})
}

// A control plane that is away for ten minutes ends no session, and viewers come back.
func TestSessionsOutliveTheControlPlane(t *testing.T) {
	asking(t, func(t *testing.T, d *desktop.Service, p *plane) {
		var labels []string
		var sessions []*desktop.Session
		for i := range 100 {
			name := fmt.Sprint("lab", i)
			label, _ := issue(t, d, name, desktop.Options{ExpiresIn: time.Hour})
			labels, sessions = append(labels, label), append(sessions, enter(t, d, label))
		}
		p.say("")
		time.Sleep(10*time.Minute - time.Second)
		begun, asked := time.Now(), p.asked.Load()
		for i, x := range sessions {
			wantOpen(t, x)
			x.Leave()
			_, err := d.Issue(dev, fmt.Sprint("lab", i), desktop.Options{})
			wantFault(t, err, apierror.SourceUnavailable, "")
			sessions[i] = enter(t, d, labels[i])
		}
		if took, n := time.Since(begun), p.asked.Load()-asked; took > 0 || n != 5 {
			t.Errorf("took %v, asked %d times", took, n)
		}
		time.Sleep(time.Second)
		sessions[0].Leave()
		wantNotLocated(t, d, labels[0], desktop.SourceUnavailable)
		for _, x := range sessions[1:] {
			wantOpen(t, x)
		}
		p.say(allow("vm-1", ""))
		time.Sleep(2 * time.Second)
		enter(t, d, labels[0])
	})
}

func TestAReleaseEndsAllOfASourcesWorkstationAndAsksAgain(t *testing.T) {
	asking(t, func(t *testing.T, d *desktop.Service, p *plane) {
		label, _ := issue(t, d, "lab1", desktop.Options{})
		elsewhere, _ := issue(t, d, "lab2", desktop.Options{})
		x, y := enter(t, d, label), enter(t, d, elsewhere)
		other := "vm-9"
		err := d.Release(t.Context(), "default", "lab1", desktop.Releaser{Machine: &other})
		wantFault(t, err, apierror.WorkstationGeneration, "")
		wantOpen(t, x)
		machine := "vm-1"
		if err := d.Release(t.Context(), "default", "lab1", desktop.Releaser{Key: "ops", Machine: &machine}); err != nil {
			t.Fatal(err)
		}
		wantEnded(t, x, desktop.ReasonReleased)
		wantOpen(t, y)
		_, err = d.Find(label, viewer.Addr())
		wantRefusal(t, err, desktop.RefusedReleased)
		p.say(`{"decision":"deny"}`)
		_, err = d.Issue(dev, "lab2", desktop.Options{})
		if err != nil { // its answer still counts
			t.Error(err)
		}
		_, err = d.Issue(dev, "lab1", desktop.Options{})
		wantFault(t, err, apierror.WorkstationDenied, "")
	})
}

func TestAWorkstationThatLetsNobodyInIsAskedForAgain(t *testing.T) {
	asking(t, func(t *testing.T, d *desktop.Service, p *plane) {
		label, _ := issue(t, d, "lab1", desktop.Options{})
		wantLocated(t, d, label).Doubt()
		wantLocated(t, d, label)
		if p.asked.Load() != 2 {
			t.Errorf("asked %d times", p.asked.Load())
		}
	})
}

// A reload keeps sessions, addresses and answers; without the source they end.
func TestAReloadKeepsWhatASourceHasSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(plane)
		p.say(allow("vm-1", ""))
		d := open(t, func(c *desktop.Config) { c.Sources = []desktop.Source{p.source(t)} })
		state := d.State()
		label, _ := issue(t, d, "lab1", desktop.Options{})
		x := enter(t, d, label)
		p.say("")
		next := open(t, func(c *desktop.Config) { c.State, c.Sources = state, []desktop.Source{p.source(t)} })
		desktop.Commit(state, next, nil)
		wantOpen(t, x)
		issue(t, next, "lab1", desktop.Options{})
		time.Sleep(time.Minute)
		wantLocated(t, next, label)
		last := open(t, func(c *desktop.Config) { c.State = state })
		desktop.Commit(state, last, nil)
		wantEnded(t, x, desktop.ReasonRemoved)
		_, err := last.Find(label, viewer.Addr())
		wantRefusal(t, err, desktop.RefusedRevoked)
	})
}

func TestImpossibleSourcesAreRefused(t *testing.T) {
	p := new(plane)
	for want, change := range map[string]func(s *desktop.Source){
		`source "lab": networks: without one`:           func(s *desktop.Source) { s.Networks = nil },
		`source "lab": networks: ::ffff:0.0.0.0/96:`:    func(s *desktop.Source) { s.Networks = []netip.Prefix{netip.MustParsePrefix("::ffff:0.0.0.0/96")} },
		`source "lab": "a b" is not the name`:           func(s *desktop.Source) { s.Tenants = []string{"a b"} },
		`source "lab": tenant "default" has the source`: func(s *desktop.Source) { s.Tenants = []string{"default", "default"} },
	} {
		s := p.source(t)
		change(&s)
		if _, err := desktop.New(config(func(c *desktop.Config) { c.Sources = []desktop.Source{s} })); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	s := p.source(t)
	if _, err := desktop.New(config(func(c *desktop.Config) { c.Sources = []desktop.Source{s, s} })); err == nil {
		t.Error("two sources of one name")
	}
}
