//go:build unix

package valkey_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// two are gateways that share all.
func two(t *testing.T, change func(*desktop.Policy)) (e *engines, a, b *gateway) {
	t.Helper()
	e = newEngines(t)
	return e, e.gateway(t, "a", change), e.gateway(t, "b", change)
}

func release(t *testing.T, g *gateway, name string) {
	t.Helper()
	if err := g.Release(t.Context(), "default", name, desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
}

// Each of the three ways by which a gateway learns of a release ends its sessions alone.
func TestAReleaseEndsSessionsOfOtherGateways(t *testing.T) {
	for way, learn := range map[string]func(t *testing.T, e *engines, b *gateway){
		"by the event": func(*testing.T, *engines, *gateway) {},
		"by a look at the records, with the events lost": func(t *testing.T, _ *engines, b *gateway) { b.look(t) },
		"by a beat, with the events lost":                func(t *testing.T, _ *engines, b *gateway) { b.beat(t) },
	} {
		t.Run(way, func(t *testing.T) {
			e, a, b := two(t, nil)
			label := issue(t, a.Service, "desk1", desktop.Options{})
			x := mustJoin(t, b.Service, label, viewer)
			bystander := mustJoin(t, b.Service, issue(t, a.Service, "desk2", desktop.Options{}), viewer)
			if way != "by the event" {
				e.bus.hold()
			}
			release(t, a, "desk1")
			if way != "by the event" {
				wantOpen(t, x)
			}
			learn(t, e, b)
			wantEnded(t, x, desktop.ReasonReleased)
			x.Leave()
			wantOpen(t, bystander)
			for _, g := range []*gateway{a, b} {
				_, err := g.Find(label, viewer.Addr())
				wantRefusal(t, err, desktop.RefusedReleased)
			}
		})
	}
}

// Within what the promise says, with the loop that runs in a gateway: a second, also if events are
// lost.
func TestAReleaseIsReadInTheRecordsWithinAboutASecond(t *testing.T) {
	t.Parallel() // it waits for a poll
	e, a, b := two(t, nil)
	b.feed.Start(t.Context())
	for _, held := range []bool{false, true} {
		if held {
			e.bus.hold()
		}
		x := mustJoin(t, b.Service, issue(t, a.Service, "desk1", desktop.Options{}), viewer)
		began := time.Now()
		release(t, a, "desk1")
		wantEnded(t, x, desktop.ReasonReleased)
		took, most := time.Since(began), time.Second
		if held {
			most = 2500 * time.Millisecond
		}
		if took > most {
			t.Errorf("events lost %v: it took %v", held, took)
		}
		t.Logf("events lost %v: %v", held, took)
		x.Leave()
		if err := a.Restore(t.Context(), "default", "desk1"); err != nil {
			t.Fatal(err)
		}
	}
}

// An older view of the records cannot issue for a released workstation, nor let anybody in.
func TestAGatewayThatHasNotReadAReleaseIssuesNothing(t *testing.T) {
	e, a, b := two(t, nil)
	e.bus.hold()
	label := issue(t, b.Service, "desk1", desktop.Options{})
	release(t, a, "desk1")
	_, err := join(b.Service, label, viewer)
	wantRefusal(t, err, desktop.RefusedReleased)
	_, err = b.Issue(dev, "desk1", desktop.Options{})
	wantFault(t, err, apierror.NotFound)

	if err := b.Restore(t.Context(), "default", "desk1"); err != nil {
		t.Fatal(err)
	}
	_, err = join(b.Service, label, viewer)
	wantRefusal(t, err, desktop.RefusedReleased)
	a.look(t)
	mustJoin(t, b.Service, issue(t, a.Service, "desk1", desktop.Options{}), viewer)
}

// A gateway that has not read a restore must not take a release for one that was there already.
func TestAReleaseAfterARestoreElsewhereCounts(t *testing.T) {
	e, a, b := two(t, nil)
	e.bus.hold()
	release(t, a, "desk1")
	if err := b.Restore(t.Context(), "default", "desk1"); err != nil {
		t.Fatal(err)
	}
	x := mustJoin(t, b.Service, issue(t, b.Service, "desk1", desktop.Options{}), viewer)
	release(t, a, "desk1")
	b.look(t)
	wantEnded(t, x, desktop.ReasonReleased)
}

func TestRegistrationsAreThoseOfAllGateways(t *testing.T) {
	_, a, b := two(t, nil)
	b.feed.Start(t.Context())
	if _, created, err := a.Register(t.Context(), "default", "run", desktop.Registration{Address: "10.0.0.1:5900"}); err != nil || !created {
		t.Fatal(created, err)
	}
	if _, created, err := b.Register(t.Context(), "default", "run", desktop.Registration{Address: "10.0.0.2:5900"}); err != nil || created {
		t.Fatal(created, err)
	}
	pass, err := b.Find(issue(t, b.Service, "run", desktop.Options{}), viewer.Addr())
	if err != nil || pass.Target.Address != "10.0.0.2:5900" {
		t.Fatal(pass, err)
	}
	a.look(t)
	if v, err := a.Get("default", "run"); err != nil || v.Address != "10.0.0.2:5900" || v.Tokens != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

// Released registrations of long ago go, once for all gateways.
func TestOldReleasedRegistrationsGo(t *testing.T) {
	e, a, b := two(t, nil)
	register := func(g *gateway, name string) {
		t.Helper()
		if _, _, err := g.Register(t.Context(), "default", name, desktop.Registration{Address: "10.0.0.1:5900"}); err != nil {
			t.Fatal(err)
		}
	}
	register(a, "run")
	release(t, a, "run")
	e.Move(8 * 24 * time.Hour)
	register(a, "next")
	b.look(t)
	_, err := b.Get("default", "run")
	wantFault(t, err, apierror.NotFound)
	third := e.gateway(t, "c", nil)
	_, err = third.Get("default", "run")
	wantFault(t, err, apierror.NotFound)
	if _, err := third.Get("default", "next"); err != nil {
		t.Error(err)
	}
}

// PostgreSQL is down: nobody is told that it is released, but it is closed where the engine reaches.
func TestAReleaseThatCannotBeStoredClosesTheWorkstationAllTheSame(t *testing.T) {
	_, a, b := two(t, nil)
	label := issue(t, b.Service, "desk1", desktop.Options{})
	x := mustJoin(t, b.Service, label, viewer)
	a.db.Close()
	wantFault(t, a.Release(t.Context(), "default", "desk1", desktop.Releaser{}), apierror.StorageUnavailable)
	wantEnded(t, x, desktop.ReasonReleased)
	x.Leave()
	_, err := b.Issue(dev, "desk1", desktop.Options{})
	wantFault(t, err, apierror.NotFound)
	if err := b.Restore(t.Context(), "default", "desk1"); err != nil {
		t.Fatal(err)
	}
	issue(t, b.Service, "desk1", desktop.Options{})
	_, err = b.Find(label, viewer.Addr())
	wantRefusal(t, err, desktop.RefusedReleased)
}

// The same of a workstation that was registered at run time: to register it again is to restore it.
func TestARegistrationTakesBackAReleaseThatWasNotStored(t *testing.T) {
	_, a, b := two(t, nil)
	register := func() {
		t.Helper()
		if _, _, err := b.Register(t.Context(), "default", "run", desktop.Registration{Address: "10.0.0.1:5900"}); err != nil {
			t.Fatal(err)
		}
	}
	register()
	a.look(t)
	a.db.Close()
	wantFault(t, a.Release(t.Context(), "default", "run", desktop.Releaser{}), apierror.StorageUnavailable)
	_, err := b.Issue(dev, "run", desktop.Options{})
	wantFault(t, err, apierror.NotFound)
	register()
	issue(t, b.Service, "run", desktop.Options{})
}

// A release that comes while another gateway's message is on its way counts.
func TestAReleaseComesBetween(t *testing.T) {
	_, a, b := two(t, nil)
	pass, err := b.Find(issue(t, a.Service, "desk1", desktop.Options{}), viewer.Addr())
	if err != nil {
		t.Fatal(err)
	}
	b.node.lost = func(script string) error { // the engine has opened the session, and has not answered
		if script == "desktop swap" {
			release(t, a, "desk1")
		}
		return nil
	}
	_, err = pass.Join(viewer, "x509none")
	wantRefusal(t, err, desktop.RefusedReleased)
	b.node.lost = nil
	if n := b.state.Open(); n != 0 || len(all(a)) != 0 {
		t.Errorf("%d sessions here, %+v for the engine", n, all(a))
	}

	b.node.bus.hold()
	b.node.before = func(script string) error {
		if script == "desktop swap" {
			b.node.before = nil
			release(t, a, "desk2")
		}
		return nil
	}
	_, err = b.Issue(dev, "desk2", desktop.Options{})
	wantFault(t, err, apierror.NotFound)
}
