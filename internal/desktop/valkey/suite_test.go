//go:build unix

package valkey_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// pair is a gateway where addresses are issued and one where viewers come: the same, or two.
type pair struct {
	*enginetest.Clock
	a, b  *desktop.Service
	state *desktop.State   // of a
	renew func(*testing.T) // the leases, after the clock was moved
}

// onBoth runs a test on one gateway, and on two that share an engine.
func onBoth(t *testing.T, f func(t *testing.T, open func(change func(*desktop.Policy)) pair, move func(time.Duration))) {
	t.Run("one gateway", func(t *testing.T) {
		c := enginetest.NewClock(time.Now())
		f(t, func(change func(*desktop.Policy)) pair {
			state := memory.NewState(c.Now)
			w := service(t, state, new(desktoptest.Storage), change)
			return pair{c, w, w, state, func(*testing.T) {}}
		}, c.Move)
	})
	t.Run("two gateways", func(t *testing.T) { onTwo(t, f, false) })
	t.Run("two gateways whose messages all arrive twice", func(t *testing.T) { onTwo(t, f, true) })
}

func onTwo(t *testing.T, f func(t *testing.T, open func(change func(*desktop.Policy)) pair, move func(time.Duration)), twice bool) {
	e, n := newEngines(t), 0
	f(t, func(change func(*desktop.Policy)) pair {
		n++
		e.cluster = fmt.Sprint("test", n)
		a, b := e.gateway(t, "a", change), e.gateway(t, "b", change)
		a.node.twice, b.node.twice = twice, twice
		return pair{e.Clock, a.Service, b.Service, a.state, func(t *testing.T) {
			a.beat(t)
			b.beat(t)
		}}
	}, e.Move)
}

func TestConflictsAtAWorkstation(t *testing.T) {
	const joins, refused, replaces = "joins", "refused", "replaces"
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		for _, tc := range []struct {
			rule          desktop.Conflict
			first, second bool // shared tokens
			want          string
		}{
			{desktop.Refuse, false, false, refused},
			{desktop.Refuse, false, true, refused},
			{desktop.Refuse, true, false, refused},
			{desktop.Refuse, true, true, joins},
			{desktop.Replace, false, false, replaces},
			{desktop.Replace, false, true, replaces},
			{desktop.Replace, true, false, replaces},
			{desktop.Replace, true, true, joins},
			{desktop.Share, false, false, joins},
			{desktop.Share, true, false, joins},
		} {
			t.Run(fmt.Sprint(tc), func(t *testing.T) {
				g := open(func(p *desktop.Policy) { p.OnConflict = tc.rule })
				bystander := mustJoin(t, g.b, issue(t, g.a, "desk2", desktop.Options{}), viewer)
				there := mustJoin(t, g.a, issue(t, g.a, "desk1", desktop.Options{Shared: tc.first}), viewer)
				pass, err := g.b.Find(issue(t, g.a, "desk1", desktop.Options{Shared: tc.second}), other.Addr())
				if err != nil {
					t.Fatal(err)
				}
				if busy := pass.Look() != nil; busy != (tc.want == refused) {
					t.Errorf("busy before it joins: %v", busy)
				}
				newcomer, err := pass.Join(other, "x509none")
				if tc.want == refused {
					wantRefusal(t, err, desktop.RefusedBusy)
				} else if err != nil {
					t.Fatal(err)
				} else {
					wantOpen(t, newcomer)
				}
				if tc.want == replaces {
					wantEnded(t, there, desktop.ReasonReplaced)
				} else {
					wantOpen(t, there)
				}
				wantOpen(t, bystander)
			})
		}
	})
}

func TestATokenTakesOverItsOwnSessionFromItsAddress(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		g := open(nil)
		label := issue(t, g.a, "desk1", desktop.Options{})
		there := mustJoin(t, g.a, label, viewer)
		_, err := join(g.b, label, other)
		wantRefusal(t, err, desktop.RefusedBusy)
		again := mustJoin(t, g.b, label, viewer)
		wantEnded(t, there, desktop.ReasonReplaced)
		there.Leave()
		wantOpen(t, again)
		_, err = join(g.a, issue(t, g.b, "desk1", desktop.Options{}), viewer)
		wantRefusal(t, err, desktop.RefusedBusy)
	})
}

func TestATokenBelongsToItsFirstClient(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		g := open(func(p *desktop.Policy) { p.PinClient = true })
		label := issue(t, g.a, "desk1", desktop.Options{})
		early, err := g.b.Find(label, other.Addr())
		if err != nil {
			t.Fatal(err)
		}
		mustJoin(t, g.a, label, viewer).Leave()
		_, err = join(g.b, label, other)
		wantRefusal(t, err, desktop.RefusedPinned)
		_, err = early.Join(other, "none")
		wantRefusal(t, err, desktop.RefusedPinned)
		mustJoin(t, g.b, label, viewer)
	})
}

func TestSoManySessionsInAll(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		g := open(func(p *desktop.Policy) { p.MaxSessions, p.OnConflict = 2, desktop.Replace })
		a, b := issue(t, g.a, "desk1", desktop.Options{}), issue(t, g.b, "desk2", desktop.Options{Shared: true})
		first, second := mustJoin(t, g.a, a, viewer), mustJoin(t, g.b, b, viewer)
		_, err := join(g.a, b, viewer)
		wantRefusal(t, err, desktop.RefusedFull)
		wantOpen(t, second)
		third := mustJoin(t, g.b, a, viewer)
		wantEnded(t, first, desktop.ReasonReplaced)
		first.Leave()
		_, err = join(g.a, b, viewer)
		wantRefusal(t, err, desktop.RefusedFull)
		third.Leave()
		mustJoin(t, g.a, b, viewer)
	})
}

func TestAWorkstationHasSoManyLiveTokens(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, move func(time.Duration)) {
		g := open(nil)
		for range 8 {
			issue(t, g.a, "desk1", desktop.Options{})
			issue(t, g.b, "desk1", desktop.Options{})
		}
		_, err := g.b.Issue(dev, "desk1", desktop.Options{})
		wantFault(t, err, "workstation_tokens_exceeded")
		if v, _ := g.b.Get("default", "desk1"); v.Tokens != 16 {
			t.Errorf("%d tokens are shown", v.Tokens)
		}
		move(5 * time.Minute)
		if v, _ := g.a.Get("default", "desk1"); v.Tokens != 0 {
			t.Errorf("%d expired tokens are shown", v.Tokens)
		}
		g.renew(t)
		issue(t, g.b, "desk1", desktop.Options{})
	})
}

func TestATokenIsGoodForReconnects(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, move func(time.Duration)) {
		g := open(nil)
		label := issue(t, g.a, "desk1", desktop.Options{ExpiresIn: 5 * time.Second})
		x := mustJoin(t, g.a, label, viewer)
		move(10 * time.Second) // beyond the time for the first use
		x.Leave()
		x.Leave()
		move(time.Minute)
		g.renew(t)
		live := func() error { // it has 50 ms to find out
			if !g.b.Live(label) {
				return errors.New("the address is not live")
			}
			return nil
		}
		retry(t, live)
		again := mustJoin(t, g.b, label, viewer)
		again.Leave()
		move(2 * time.Minute)
		_, err := join(g.a, label, viewer)
		wantRefusal(t, err, desktop.RefusedExpired)
		if live() == nil {
			t.Error("the address is live after its end")
		}
	})
}

func TestPrefixesFindATokenWithVNCAuth(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		g := open(func(p *desktop.Policy) { p.VNCAuth = true })
		dead, live := issue(t, g.a, "desk1", desktop.Options{}), issue(t, g.a, "desk2", desktop.Options{})
		if err := g.a.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		match := func(label string) error {
			_, err := g.b.FindByMatch(func(p string) bool { return p == label[:8] }, viewer.Addr())
			return err
		}
		if err := match(live); err != nil {
			t.Error(err)
		}
		if pass, err := g.b.FindByPrefix(live[:8], viewer.Addr()); err != nil || pass.Workstation.Name != "desk2" {
			t.Errorf("%v, %v", pass, err)
		}
		wantRefusal(t, match(dead), desktop.RefusedReleased)
		wantRefusal(t, match("neverissued"), desktop.RefusedUnknown)
		_, err := g.b.FindByPrefix("neverwas", viewer.Addr())
		wantRefusal(t, err, desktop.RefusedUnknown)
	})
}

func TestAKeysEndReachesWhatItHasAskedFor(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, move func(time.Duration)) {
		g := open(nil)
		label, unused := issue(t, g.a, "desk1", desktop.Options{}), issue(t, g.a, "desk2", desktop.Options{})
		x := mustJoin(t, g.b, label, viewer)
		g.state.RevokeAt("default", "dev", g.Now().Add(time.Hour))
		g.state.RevokeAt("other", "dev", g.Now())
		wantOpen(t, x)
		if until := x.Until().Sub(g.Now()); until > time.Hour || until < time.Hour-time.Second {
			t.Errorf("the session ends in %v", until)
		}
		g.state.Revoke("default", "dev")
		wantEnded(t, x, desktop.ReasonRemoved)
		for _, label := range []string{label, unused} {
			_, err := g.b.Find(label, viewer.Addr())
			wantRefusal(t, err, desktop.RefusedRevoked)
		}
		x.Leave()
		move(time.Millisecond) // a token of the same instant is revoked too
		mustJoin(t, g.a, issue(t, g.b, "desk1", desktop.Options{}), viewer)
	})
}

// The relay may take a while to close both connections.
func TestASessionCountsUntilItHasEnded(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		g := open(func(p *desktop.Policy) { p.MaxSessions = 1 })
		label := issue(t, g.a, "desk1", desktop.Options{})
		x := mustJoin(t, g.b, label, viewer)
		_, err := join(g.a, label, other)
		wantRefusal(t, err, desktop.RefusedBusy)
		x.End(desktop.ReasonIdle)
		if views, err := g.b.Sessions("default", "desk1"); err != nil || len(views) != 0 {
			t.Errorf("%+v, %v", views, err)
		}
		var again *desktop.Session
		retry(t, func() (err error) { // the store is told of it
			again, err = join(g.a, label, other)
			return err
		})
		x.Leave()
		wantOpen(t, again)
		if v, err := g.b.Get("default", "desk1"); err != nil || v.Sessions != 1 {
			t.Errorf("%+v, %v", v, err)
		}
		if x.Why() != desktop.ReasonIdle {
			t.Errorf("it ended because of %q", x.Why())
		}
	})
}
