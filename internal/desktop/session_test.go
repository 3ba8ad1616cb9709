package desktop_test

import (
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
)

func TestAReplacedViewerOfTheSameTokenDoesNotEndIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, func(c *desktop.Config) { c.OnConflict = desktop.Replace })
		label, _ := issue(t, d, "desk1", desktop.Options{})
		first := mustJoin(t, d, label, viewer)
		second := mustJoin(t, d, label, viewer)
		wantEnded(t, first, desktop.ReasonReplaced)
		first.Leave()
		time.Sleep(time.Hour)
		if !d.Live(label) {
			t.Error("the token died under an open session")
		}
		wantOpen(t, second)
	})
}

func TestPinning(t *testing.T) {
	mapped := netip.AddrPortFrom(netip.AddrFrom16(viewer.Addr().As16()), 40001)
	for _, pin := range []bool{false, true} {
		d := open(t, func(c *desktop.Config) { c.PinClient = pin })
		label, _ := issue(t, d, "desk1", desktop.Options{})
		early, err := d.Find(label, other.Addr()) // nobody has joined yet
		if err != nil {
			t.Fatal(err)
		}
		mustJoin(t, d, label, viewer).Leave()
		mustJoin(t, d, label, mapped).Leave()
		x, err := join(d, label, other)
		if !pin {
			if err != nil {
				t.Fatal(err)
			}
			x.Leave()
			continue
		}
		wantRefusal(t, err, desktop.RefusedPinned)
		_, err = early.Join(other, "none")
		wantRefusal(t, err, desktop.RefusedPinned)
	}
}

func TestSessionsAreListedAndEndedByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, nil)
		label, issued := issue(t, d, "desk1", desktop.Options{Shared: true})
		x := mustJoin(t, d, label, viewer)
		time.Sleep(time.Second)
		y := mustJoin(t, d, label, other)
		x.Up.Add(3)
		x.Down.Add(5)
		got, err := d.Sessions("default", "desk1")
		if err != nil || len(got) != 2 || got[0].ID != x.ID || got[1].ID != y.ID {
			t.Fatalf("%+v, %v", got, err)
		}
		if s := got[0]; s.Key != "dev" || s.TokenID != issued.TokenID || s.Viewer != viewer || s.Security != "x509none" ||
			!s.Shared || s.Up != 3 || s.Down != 5 || time.Since(s.Started) != time.Second || !s.Until.Equal(x.Until()) {
			t.Errorf("%+v", s)
		}
		for _, miss := range [][3]string{{"default", "desk1", "vnc-0"}, {"default", "desk2", x.ID}, {"acme", "desk1", x.ID}, {"default", "desk9", x.ID}} {
			wantFault(t, d.EndSession(miss[0], miss[1], miss[2], ""), apierror.NotFound, "")
		}
		if err := d.EndSession("default", "desk1", x.ID, ""); err != nil {
			t.Fatal(err)
		}
		wantEnded(t, x, desktop.ReasonEnded)
		wantOpen(t, y)
		_, err = join(d, label, viewer) // or it would be back at once
		wantRefusal(t, err, desktop.RefusedRevoked)
		wantFault(t, d.EndSession("default", "desk1", x.ID, ""), apierror.NotFound, "")
		_, err = d.Sessions("acme", "desk1")
		wantFault(t, err, apierror.NotFound, "")
	})
}

func TestTheFirstReasonStays(t *testing.T) {
	state := memory.NewState(time.Now)
	d := open(t, func(c *desktop.Config) { c.State = state })
	label, _ := issue(t, d, "desk1", desktop.Options{})
	x := mustJoin(t, d, label, viewer)
	if x.Why() != "" {
		t.Errorf("an open session has the reason %q", x.Why())
	}
	x.End(desktop.ReasonIdle)
	state.EndAll(desktop.ReasonShutdown)
	x.Leave()
	wantEnded(t, x, desktop.ReasonIdle)
	y := mustJoin(t, d, label, viewer)
	state.EndAll(desktop.ReasonShutdown)
	wantEnded(t, y, desktop.ReasonShutdown)
}

// The data of an event that nobody has subscribed to are not made.
func TestOnlyObservedEventsAreMade(t *testing.T) {
	var names []string
	d := open(t, func(c *desktop.Config) {
		c.Emit = func(event string, _ map[string]any) { names = append(names, event) }
		c.Observed = func(event string) bool { return event == desktop.EventSessionClosed }
	})
	mustJoin(t, d, mustIssue(t, d, "desk1"), viewer).Leave()
	if want := []string{desktop.EventSessionClosed}; !slices.Equal(names, want) {
		t.Errorf("events %q, want %q", names, want)
	}
}

func TestEventsTellWhoWhereAndHowLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		var last map[string]any
		d := open(t, func(c *desktop.Config) {
			c.Emit = func(event string, data map[string]any) { names, last = append(names, event), data }
		})
		label, issued := issue(t, d, "desk1", desktop.Options{})
		x := mustJoin(t, d, label, viewer)
		time.Sleep(90 * time.Second)
		if err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		if last["sessions"] != 1 || last["workstation"] != "desk1" || last["tenant"] != "default" {
			t.Errorf("released: %v", last)
		}
		x.Up.Add(7)
		x.Down.Add(9)
		x.Leave()
		x.Leave()
		for key, want := range map[string]any{
			"tenant": "default", "workstation": "desk1", "session": x.ID, "token": issued.TokenID, "key": "dev",
			"viewer": viewer.String(), "security": "x509none", "reason": "released",
			"seconds": 90.0, "bytes_up": int64(7), "bytes_down": int64(9),
		} {
			if last[key] != want {
				t.Errorf("%s: %v, want %v", key, last[key], want)
			}
		}
		if want := []string{"vnc_session_opened", "workstation_released", "vnc_session_closed"}; !slices.Equal(names, want) {
			t.Errorf("events %v", names)
		}
	})
}

// A viewer that comes back before its lost connection was noticed gets its desktop, from its own
// address only: the token can be read on the way.
func TestATokenTakesOverItsOwnSessionFromItsAddress(t *testing.T) {
	again := netip.AddrPortFrom(netip.AddrFrom16(viewer.Addr().As16()), 40001)
	for _, tc := range []struct {
		name        string
		first, from netip.AddrPort
		own         bool // the same token
		takesOver   bool
	}{
		{"the same token and address", viewer, again, true, true},
		{"the same token from elsewhere", viewer, other, true, false},
		{"another token from the same address", viewer, again, false, false},
		{"the same token, both without an address", netip.AddrPort{}, netip.AddrPort{}, true, false},
	} {
		d := open(t, nil)
		label, another := mustIssue(t, d, "desk1"), mustIssue(t, d, "desk1")
		there := mustJoin(t, d, label, tc.first)
		if !tc.own {
			label = another
		}
		pass, err := d.Find(label, tc.from.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if busy := pass.Look() != nil; busy == tc.takesOver {
			t.Errorf("%s: busy before it joins: %v", tc.name, busy)
		}
		newcomer, err := pass.Join(tc.from, "x509none")
		if !tc.takesOver {
			wantRefusal(t, err, desktop.RefusedBusy)
			wantOpen(t, there)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		wantEnded(t, there, desktop.ReasonReplaced)
		there.Leave()
		wantOpen(t, newcomer)
		if !d.Live(label) {
			t.Error("the token died with the session that it took over")
		}
	}
}
