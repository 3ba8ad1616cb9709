//go:build unix

package valkey_test

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func machine(name, address string) desktop.Registration {
	return desktop.Registration{Address: address, Machine: name}
}

func register(t testing.TB, w *desktop.Service, name string, r desktop.Registration) {
	t.Helper()
	if _, _, err := w.Register(t.Context(), "default", name, r); err != nil {
		t.Fatal(err)
	}
}

func TestAnotherMachineEndsWhatViewersHadOfTheOneBefore(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		for _, tc := range []struct{ before, after string }{{"vm-1", "vm-2"}, {"", "vm-1"}, {"vm-1", ""}} {
			g := open(nil)
			register(t, g.a, "run", machine(tc.before, "10.0.0.1:5900"))
			register(t, g.a, "run2", machine("vm-9", "10.0.0.9:5900"))
			label, unused := issue(t, g.a, "run", desktop.Options{}), issue(t, g.b, "run", desktop.Options{})
			there, here := mustJoin(t, g.b, label, viewer), mustJoin(t, g.a, issue(t, g.a, "run2", desktop.Options{}), viewer)
			late, err := g.b.Find(unused, viewer.Addr())
			if err != nil {
				t.Fatal(err)
			}
			register(t, g.a, "run", machine(tc.after, "10.0.0.1:5900"))
			wantEnded(t, there, desktop.ReasonReleased)
			for _, label := range []string{label, unused} {
				_, err := g.b.Find(label, viewer.Addr())
				wantRefusal(t, err, desktop.RefusedReleased)
			}
			_, err = late.Join(viewer, "x509none")
			wantRefusal(t, err, desktop.RefusedReleased)
			wantOpen(t, here)
			mustJoin(t, g.b, issue(t, g.a, "run", desktop.Options{}), viewer)
		}
	})
}

func TestAMachineThatMovesKeepsItsViewers(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		g := open(nil)
		register(t, g.a, "run", machine("vm-1", "10.0.0.1:5900"))
		label := issue(t, g.a, "run", desktop.Options{Shared: true})
		x := mustJoin(t, g.b, label, viewer)
		register(t, g.b, "run", machine("vm-1", "10.0.0.2:5900"))
		wantOpen(t, x)
		pass, err := g.b.Find(label, viewer.Addr())
		if err != nil || pass.Target.Address != "10.0.0.2:5900" {
			t.Errorf("%+v, %v", pass, err)
		}
	})
}

func TestALateReleaseLeavesTheNextMachineOpen(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		g := open(nil)
		register(t, g.a, "run", machine("vm-1", "10.0.0.1:5900"))
		register(t, g.a, "run", machine("vm-2", "10.0.0.1:5900"))
		label := issue(t, g.a, "run", desktop.Options{})
		x := mustJoin(t, g.a, label, viewer)
		old, now := "vm-1", "vm-2"
		wantFault(t, g.b.Release(t.Context(), "default", "run", desktop.Releaser{Machine: &old}), apierror.WorkstationGeneration)
		wantOpen(t, x)
		if err := g.b.Release(t.Context(), "default", "run", desktop.Releaser{Machine: &now}); err != nil {
			t.Fatal(err)
		}
		wantEnded(t, x, desktop.ReasonReleased)
		wantFault(t, g.b.Release(t.Context(), "default", "desk1", desktop.Releaser{Machine: &now}), apierror.WorkstationGeneration)
	})
}

func TestASourceTouchesNoOther(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		g := open(nil)
		from := func(source string) desktop.Registration {
			return desktop.Registration{Address: "10.0.0.1:5900", Machine: "vm-1", Source: source}
		}
		register(t, g.a, "run", from("")) // by hand
		register(t, g.a, "run", from("ctl-a"))
		for _, source := range []string{"ctl-b", ""} {
			_, _, err := g.b.Register(t.Context(), "default", "run", from(source))
			wantFault(t, err, apierror.WorkstationConflict)
		}
		_, _, err := g.b.Register(t.Context(), "default", "desk1", from("ctl-a"))
		wantFault(t, err, apierror.WorkstationConflict)
		if err := g.a.Release(t.Context(), "default", "run", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		register(t, g.b, "run", from("ctl-b"))
	})
}

func TestNoAddressIsIssuedAfterTheEndOfARegistration(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, move func(time.Duration)) {
		for _, onExpiry := range []string{"", desktop.OnExpiryEnd} {
			g := open(nil)
			r := desktop.Registration{Address: "10.0.0.1:5900", ExpiresIn: time.Minute, OnExpiry: onExpiry}
			register(t, g.a, "run"+onExpiry, r)
			label := issue(t, g.a, "run"+onExpiry, desktop.Options{})
			move(time.Minute)
			g.renew(t)
			_, err := g.b.Issue(dev, "run"+onExpiry, desktop.Options{})
			wantFault(t, err, apierror.NotFound)
			_, err = g.b.Find(label, viewer.Addr())
			if onExpiry == "" && err != nil {
				t.Error(err)
			}
			if onExpiry != "" {
				wantRefusal(t, err, desktop.RefusedReleased)
			}
			register(t, g.b, "run"+onExpiry, r)
			issue(t, g.b, "run"+onExpiry, desktop.Options{})
			if onExpiry != "" { // it stays over
				_, err = g.b.Find(label, viewer.Addr())
				wantRefusal(t, err, desktop.RefusedReleased)
			}
		}
	})
}

// A gateway that has missed the news must not lead an address of the new machine to the old one.
func TestAGatewayThatHasNotReadTheNextMachineReadsIt(t *testing.T) {
	e, a, b := two(t, nil)
	register(t, a.Service, "run", machine("vm-1", "10.0.0.1:5900"))
	b.look(t)
	x := mustJoin(t, b.Service, issue(t, b.Service, "run", desktop.Options{}), viewer)
	e.bus.hold()
	register(t, a.Service, "run", machine("vm-2", "10.0.0.2:5900"))
	pass, err := b.Find(issue(t, a.Service, "run", desktop.Options{}), viewer.Addr())
	if err != nil || pass.Target.Address != "10.0.0.2:5900" {
		t.Fatalf("%+v, %v", pass, err)
	}
	wantEnded(t, x, desktop.ReasonReleased) // it has read the records
}

// Two control planes, or two tries of one, put machines under a name at two gateways at once: what an
// address opens is the machine for which it was issued, or nothing.
func TestMachinesThatComeAtOnce(t *testing.T) {
	_, a, b := two(t, nil)
	var issued sync.Map // label: the machines that it may open
	for round := range 20 {
		var all sync.WaitGroup
		for i, g := range []*gateway{a, b} {
			all.Go(func() {
				name := fmt.Sprintf("vm-%d-%d", round, i)
				address := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(round), byte(i + 1)}), 5900).String()
				_, _, err := g.Register(t.Context(), "default", "run", machine(name, address))
				var refused *apierror.Error
				if err != nil && !(errors.As(err, &refused) && errors.Is(err, desktop.ErrChanged)) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		a.look(t)
		view, err := a.Get("default", "run")
		if err != nil {
			t.Fatal(err)
		}
		label := issue(t, a.Service, "run", desktop.Options{ExpiresIn: time.Hour})
		issued.Range(func(old, _ any) bool {
			if _, err := b.Find(old.(string), viewer.Addr()); err == nil {
				t.Errorf("an address of round %v opens in round %d", old, round)
			}
			return true
		})
		pass, err := b.Find(label, viewer.Addr())
		if err != nil || pass.Target.Address != view.Address {
			t.Fatalf("round %d: %+v, %v; the list has %s", round, pass, err, view.Address)
		}
		issued.Store(label, nil)
	}
}
