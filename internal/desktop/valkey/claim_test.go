//go:build unix

package valkey_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

func TestATokenForOneSessionDiesWithItsBeginning(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, move func(time.Duration)) {
		g := open(nil)
		label := issue(t, g.a, "desk1", desktop.Options{Once: true})
		for range 2 { // to look at it is no use of it
			if _, err := g.b.Find(label, viewer.Addr()); err != nil {
				t.Fatal(err)
			}
		}
		x := mustJoin(t, g.b, label, viewer)
		for _, w := range []*desktop.Service{g.a, g.b} {
			_, err := w.Find(label, viewer.Addr())
			wantRefusal(t, err, desktop.RefusedUsed)
			if w.Live(label) {
				t.Error("the address is live after its use")
			}
		}
		wantOpen(t, x)
		if v, err := g.a.Get("default", "desk1"); err != nil || v.Sessions != 1 || v.Tokens != 0 {
			t.Errorf("%+v, %v", v, err)
		}
		g.state.RevokeAt("default", "dev", g.Now().Add(time.Hour))
		if left := x.Until().Sub(g.Now()); left > time.Hour || left < time.Hour-time.Second {
			t.Errorf("the session ends in %v after its key got an earlier end", left)
		}
		x.Leave()
		g.renew(t)
		_, err := join(g.a, label, viewer)
		wantRefusal(t, err, desktop.RefusedUsed)
		mustJoin(t, g.a, issue(t, g.b, "desk1", desktop.Options{Once: true}), other)
	})
}

func TestAViewerThatMayNotJoinAnyMoreReplacesNobody(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		g := open(func(p *desktop.Policy) { p.OnConflict = desktop.Replace })
		holder := mustJoin(t, g.a, issue(t, g.a, "desk1", desktop.Options{}), viewer)
		pass, err := g.b.Find(issue(t, g.b, "desk1", desktop.Options{}), other.Addr())
		if err != nil {
			t.Fatal(err)
		}
		out := true
		pass.Withdrawn = func() bool { return out }
		_, err = pass.Join(other, "test")
		wantRefusal(t, err, desktop.RefusedRevoked)
		wantOpen(t, holder)
		out = false
		if _, err := pass.Join(other, "test"); err != nil {
			t.Fatal(err)
		}
	})
}

func TestASessionOfAUsedTokenEndsWithItsKey(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		g := open(nil)
		x := mustJoin(t, g.b, issue(t, g.a, "desk1", desktop.Options{Once: true}), viewer)
		g.state.Revoke("default", "dev")
		wantEnded(t, x, desktop.ReasonRemoved)
	})
}

// An engine that was emptied gets the tokens of the last two minutes back, but not those for one session:
// they may have been used.
func TestAnEmptiedEngineDoesNotRenewTokensForOneSession(t *testing.T) {
	e, a, b := two(t, nil)
	label, lasting := issue(t, a.Service, "desk1", desktop.Options{Once: true}), issue(t, a.Service, "desk2", desktop.Options{})
	x := mustJoin(t, b.Service, label, viewer)
	e.redis.Kill()
	e.redis.MustStart(t)
	for _, g := range []*gateway{a, b} {
		g.renew(t)
		if err := g.node.part.Replay(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	wantOpen(t, x)
	_, err := a.Find(label, viewer.Addr())
	wantRefusal(t, err, desktop.RefusedUsed)
	if _, err := a.Find(lasting, viewer.Addr()); err != nil {
		t.Error(err)
	}
}

var colleague = desktop.Issuer{Tenant: "default", Key: "colleague", KeyHash: "22"}

func TestATokenSaysWhatItDoesWhereTheWorkstationIsInUse(t *testing.T) {
	const joins, refused, replaces = "joins", "refused", "replaces"
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		for _, tc := range []struct {
			rule   desktop.Conflict
			claim  desktop.Claim
			holder desktop.Issuer // the newcomer's key is dev
			shared bool           // both tokens
			want   string
		}{
			{desktop.Refuse, desktop.Yield, dev, false, refused},
			{desktop.Refuse, desktop.Yield, colleague, true, joins},
			{desktop.Refuse, desktop.TakeOwn, dev, false, replaces},
			{desktop.Refuse, desktop.TakeOwn, dev, true, replaces},
			{desktop.Refuse, desktop.TakeOwn, colleague, false, refused},
			{desktop.Refuse, desktop.TakeAny, colleague, false, replaces},
			{desktop.Refuse, desktop.TakeAny, colleague, true, replaces},
			{desktop.Replace, desktop.Yield, colleague, false, refused},
			{desktop.Replace, desktop.TakeOwn, colleague, false, replaces},
			{desktop.Share, desktop.Yield, colleague, false, joins},
			{desktop.Share, desktop.TakeOwn, colleague, false, joins},
			{desktop.Share, desktop.TakeAny, colleague, false, replaces},
		} {
			t.Run(fmt.Sprint(tc.rule, tc.claim, tc.holder.Key, tc.shared), func(t *testing.T) {
				g := open(func(p *desktop.Policy) { p.OnConflict = tc.rule })
				asked := desktop.Options{Once: true, Claim: tc.claim, Shared: tc.shared}
				early := desktoptest.Issue(t, g.a, dev, "desk1", asked) // while the workstation is free
				there := mustJoin(t, g.a, desktoptest.Issue(t, g.a, tc.holder, "desk1", desktop.Options{Shared: tc.shared}), viewer)
				_, err := g.b.Issue(dev, "desk1", asked)
				if tc.want == refused {
					wantOccupied(t, err, there, tc.holder.Key, tc.shared)
				} else if err != nil {
					t.Fatal(err)
				}
				newcomer, err := join(g.b, early, other)
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
			})
		}
	})
}

// wantOccupied checks that a refusal names who has the workstation.
func wantOccupied(t *testing.T, err error, there *desktop.Session, key string, joinable bool) {
	t.Helper()
	wantFault(t, err, apierror.WorkstationOccupied)
	var e *apierror.Error
	var got desktop.Occupied
	if !errors.As(err, &e) || json.Unmarshal(e.Details, &got) != nil || len(got.Sessions) != 1 {
		t.Fatalf("%v with %s", err, e.Details)
	}
	began := there.Started.UTC().Truncate(time.Second)
	want := fmt.Sprintf(`workstation "desk1" is in use by key %q since %s`, key, began.Format(time.RFC3339))
	if h := got.Sessions[0]; e.Message != want || got.Workstation != "desk1" || got.Joinable != joinable || h.Session != there.ID || h.Key != key ||
		h.Own != (key == dev.Key) || h.Started.Sub(began).Abs() > time.Second {
		t.Errorf("%q with %s", e.Message, e.Details)
	}
}
