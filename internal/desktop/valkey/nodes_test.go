//go:build unix

package valkey_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// all are the open sessions that a gateway lists.
func all(g *gateway) []desktop.SessionView {
	return g.OpenSessions(func(desktop.SessionView) bool { return true })
}

func TestSessionsOfOtherGatewaysAreListedAndEnded(t *testing.T) {
	_, a, b := two(t, nil)
	label := issue(t, a.Service, "desk1", desktop.Options{})
	x := mustJoin(t, b.Service, label, viewer)
	x.Up.Add(3)
	x.Down.Add(5)
	b.beat(t)
	for _, g := range []*gateway{a, b} {
		views := all(g)
		if len(views) != 1 {
			t.Fatalf("%+v", views)
		}
		v := views[0]
		if v.ID != x.ID || v.Node != "b" || v.Up != 3 || v.Down != 5 || v.Viewer != viewer || v.Security != "x509none" || v.Key != "dev" ||
			v.TokenID != tokenID(label) || v.Workstation != "desk1" || !v.Until.Equal(x.Until()) || v.Started.Sub(x.Started).Abs() > time.Millisecond {
			t.Errorf("%+v", v)
		}
		if views, err := g.Sessions("default", "desk1"); err != nil || len(views) != 1 || views[0].ID != x.ID {
			t.Errorf("%+v, %v", views, err)
		}
		if v, err := g.Get("default", "desk1"); err != nil || v.Sessions != 1 {
			t.Errorf("%+v, %v", v, err)
		}
	}
	wantFault(t, a.EndSession("default", "desk2", x.ID, ""), apierror.NotFound)
	if _, err := a.EndOpenSession(x.ID, "", func(desktop.SessionView) bool { return false }); err == nil {
		t.Error("a session that the caller may not see was ended")
	}
	if _, err := a.EndOpenSession(x.ID, "", func(desktop.SessionView) bool { return true }); err != nil {
		t.Fatal(err)
	}
	wantEnded(t, x, desktop.ReasonEnded)
	x.Leave()
	_, err := join(a.Service, label, viewer) // or it would be back at once
	wantRefusal(t, err, desktop.RefusedRevoked)
	wantFault(t, a.EndSession("default", "desk1", x.ID, ""), apierror.NotFound)
	if views := all(a); len(views) != 0 {
		t.Errorf("%+v", views)
	}
}

// The viewer at another gateway is told whose key has ended its session.
func TestAGatewayIsToldWhoHasEndedASession(t *testing.T) {
	replace := func(p *desktop.Policy) { p.OnConflict = desktop.Replace }
	for name, c := range map[string]struct {
		happens func(t *testing.T, a *gateway, x *desktop.Session) error
		by      string
	}{
		"replaced": {func(t *testing.T, a *gateway, _ *desktop.Session) error {
			mustJoin(t, a.Service, issue(t, a.Service, "desk1", desktop.Options{}), other)
			return nil
		}, "dev"},
		"ended": {func(_ *testing.T, a *gateway, x *desktop.Session) error {
			return a.EndSession("default", "desk1", x.ID, "night shift %")
		}, "night shift %"},
		"ended by its id": {func(_ *testing.T, a *gateway, x *desktop.Session) error {
			_, err := a.EndOpenSession(x.ID, "night", func(desktop.SessionView) bool { return true })
			return err
		}, "night"},
		"ended by an operator": {func(_ *testing.T, a *gateway, x *desktop.Session) error {
			return a.EndSession("default", "desk1", x.ID, "")
		}, ""},
		"released": {func(t *testing.T, a *gateway, _ *desktop.Session) error {
			return a.Release(t.Context(), "default", "desk1", desktop.Releaser{Key: "night"})
		}, "night"},
	} {
		t.Run(name, func(t *testing.T) {
			_, a, b := two(t, replace)
			x := mustJoin(t, b.Service, issue(t, a.Service, "desk1", desktop.Options{}), viewer)
			if err := c.happens(t, a, x); err != nil {
				t.Fatal(err)
			}
			<-x.Ended()
			if by := x.EndedBy(); by != c.by {
				t.Errorf("by %q, want %q", by, c.by)
			}
			x.Leave()
		})
	}
}

// Everything that a lost event would have said is found by the next beat.
func TestABeatFindsOutWhatWasLostOnTheWay(t *testing.T) {
	replace := func(p *desktop.Policy) { p.OnConflict = desktop.Replace }
	for name, c := range map[string]struct {
		happens func(t *testing.T, a, b *gateway, x *desktop.Session)
		why     desktop.Reason
	}{
		"replaced": {func(t *testing.T, a, _ *gateway, _ *desktop.Session) {
			mustJoin(t, a.Service, issue(t, a.Service, "desk1", desktop.Options{}), other)
		}, desktop.ReasonReplaced},
		"ended by hand": {func(t *testing.T, a, _ *gateway, x *desktop.Session) {
			if err := a.EndSession("default", "desk1", x.ID, ""); err != nil {
				t.Fatal(err)
			}
		}, desktop.ReasonEnded},
		"key revoked": {func(_ *testing.T, a, _ *gateway, _ *desktop.Session) { a.state.Revoke("default", "dev") }, desktop.ReasonRemoved},
	} {
		t.Run(name, func(t *testing.T) {
			e, a, b := two(t, replace)
			x := mustJoin(t, b.Service, issue(t, a.Service, "desk1", desktop.Options{}), viewer)
			e.bus.hold()
			c.happens(t, a, b, x)
			wantOpen(t, x)
			b.beat(t)
			wantEnded(t, x, c.why)
			x.Leave()
			b.beat(t)
		})
	}
}

func TestAJoinWhoseAnswerIsLostIsTakenBack(t *testing.T) {
	_, a, b := two(t, nil)
	label := issue(t, a.Service, "desk1", desktop.Options{})
	b.node.lost = func(script string) error {
		if script == "desktop swap" {
			return errors.New("the answer is lost")
		}
		return nil
	}
	_, err := join(b.Service, label, viewer)
	wantRefusal(t, err, desktop.RefusedUnavailable)
	b.node.lost = nil
	if b.state.Open() != 0 || len(all(a)) != 1 {
		t.Errorf("%d sessions here, %d for the engine", b.state.Open(), len(all(a)))
	}
	b.beat(t)
	if views := all(a); len(views) != 0 {
		t.Errorf("%+v", views)
	}
	mustJoin(t, a.Service, label, other)
}

func TestALeaveThatIsLostIsMadeUpFor(t *testing.T) {
	_, a, b := two(t, nil)
	label := issue(t, a.Service, "desk1", desktop.Options{})
	x := mustJoin(t, b.Service, label, viewer)
	b.node.before = func(string) error { return errors.New("the message is lost") }
	x.Leave()
	_, err := join(a.Service, label, other)
	wantRefusal(t, err, desktop.RefusedBusy)
	b.node.before = nil
	b.beat(t)
	mustJoin(t, a.Service, label, other)
}

// A node that dies frees its sessions with its lease, and a viewer that comes back to another gets in
// even before the dead node is reaped.
func TestASessionOfADeadNodeIsFree(t *testing.T) {
	for _, reaped := range []bool{false, true} {
		e, a, b := two(t, nil)
		label := issue(t, a.Service, "desk1", desktop.Options{ExpiresIn: time.Second})
		mustJoin(t, b.Service, label, viewer) // and nobody hears of b any more
		dead := b.node.ID()
		e.Move(14 * time.Second)
		a.beat(t)
		_, err := join(a.Service, label, other)
		wantRefusal(t, err, desktop.RefusedBusy)
		e.Move(time.Second)
		if reaped {
			for range 2 { // it may run twice
				if err := a.node.part.Reap(t.Context(), dead); err != nil {
					t.Fatal(err)
				}
			}
			if n, _ := a.Get("default", "desk1"); n.Sessions != 0 || n.Tokens != 1 {
				t.Errorf("%+v", n)
			}
			e.Move(time.Minute) // within the time for coming back
			a.beat(t)
		}
		mustJoin(t, a.Service, label, other)
	}
}

func TestTheTokenOfADeadNodesSessionExpires(t *testing.T) {
	e, a, b := two(t, nil)
	label := issue(t, a.Service, "desk1", desktop.Options{ExpiresIn: time.Second})
	mustJoin(t, b.Service, label, viewer)
	e.Move(16 * time.Second)
	if err := a.node.part.Reap(t.Context(), b.node.ID()); err != nil {
		t.Fatal(err)
	}
	e.Move(2 * time.Minute)
	_, err := a.Find(label, viewer.Addr())
	wantRefusal(t, err, desktop.RefusedExpired)
}

// A node that was paused comes back: what it held was given away.
func TestAPausedNodeLosesASessionThatAnotherHasNow(t *testing.T) {
	e, a, b := two(t, nil)
	lost := mustJoin(t, b.Service, issue(t, a.Service, "desk1", desktop.Options{}), viewer)
	kept := mustJoin(t, b.Service, issue(t, a.Service, "desk2", desktop.Options{}), viewer)
	e.Move(16 * time.Second)
	a.beat(t)
	if err := a.node.part.Reap(t.Context(), b.node.ID()); err != nil {
		t.Fatal(err)
	}
	mustJoin(t, a.Service, issue(t, a.Service, "desk1", desktop.Options{}), other)
	b.renew(t)
	if err := b.node.part.Rejoin(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantEnded(t, lost, desktop.ReasonReplaced)
	wantOpen(t, kept)
	if views := all(a); len(views) != 2 {
		t.Errorf("%+v", views)
	}
}

// tokenID is the name of a token in lists.
func tokenID(label string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(label)))[:12] }
