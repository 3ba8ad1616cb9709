//go:build unix

package shared_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

func TestATokenForOneSessionDiesWithItsBeginning(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*workstation.Policy)) pair, move func(time.Duration)) {
		g := open(nil)
		label := issue(t, g.a, "desk1", workstation.Options{Once: true})
		for range 2 { // to look at it is no use of it
			if _, err := g.b.Find(label, viewer.Addr()); err != nil {
				t.Fatal(err)
			}
		}
		x := mustJoin(t, g.b, label, viewer)
		for _, w := range []*workstation.Service{g.a, g.b} {
			_, err := w.Find(label, viewer.Addr())
			wantRefusal(t, err, workstation.RefusedUsed)
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
		wantRefusal(t, err, workstation.RefusedUsed)
		mustJoin(t, g.a, issue(t, g.b, "desk1", workstation.Options{Once: true}), other)
	})
}

func TestAViewerThatMayNotJoinAnyMoreReplacesNobody(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*workstation.Policy)) pair, _ func(time.Duration)) {
		g := open(func(p *workstation.Policy) { p.OnConflict = workstation.Replace })
		holder := mustJoin(t, g.a, issue(t, g.a, "desk1", workstation.Options{}), viewer)
		pass, err := g.b.Find(issue(t, g.b, "desk1", workstation.Options{}), other.Addr())
		if err != nil {
			t.Fatal(err)
		}
		out := true
		pass.Withdrawn = func() bool { return out }
		_, err = pass.Join(other, "test")
		wantRefusal(t, err, workstation.RefusedRevoked)
		wantOpen(t, holder)
		out = false
		if _, err := pass.Join(other, "test"); err != nil {
			t.Fatal(err)
		}
	})
}

func TestASessionOfAUsedTokenEndsWithItsKey(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*workstation.Policy)) pair, _ func(time.Duration)) {
		g := open(nil)
		x := mustJoin(t, g.b, issue(t, g.a, "desk1", workstation.Options{Once: true}), viewer)
		g.state.Revoke("default", "dev")
		wantEnded(t, x, workstation.ReasonRemoved)
	})
}

// An engine that was emptied gets the tokens of the last two minutes back, but not those for one session:
// they may have been used.
func TestAnEmptiedEngineDoesNotRenewTokensForOneSession(t *testing.T) {
	e, a, b := two(t, nil)
	label, lasting := issue(t, a.Service, "desk1", workstation.Options{Once: true}), issue(t, a.Service, "desk2", workstation.Options{})
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
	wantRefusal(t, err, workstation.RefusedUsed)
	if _, err := a.Find(lasting, viewer.Addr()); err != nil {
		t.Error(err)
	}
}

var colleague = workstation.Issuer{Tenant: "default", Key: "colleague", KeyHash: "22"}

func issueTo(t *testing.T, by workstation.Issuer, w *workstation.Service, o workstation.Options) string {
	t.Helper()
	issued, err := w.Issue(by, "desk1", o)
	if err != nil {
		t.Fatal(err)
	}
	return issued.URL[:26]
}

func TestATokenSaysWhatItDoesWhereTheWorkstationIsInUse(t *testing.T) {
	const joins, refused, replaces = "joins", "refused", "replaces"
	onBoth(t, func(t *testing.T, open func(func(*workstation.Policy)) pair, _ func(time.Duration)) {
		for _, tc := range []struct {
			rule   workstation.Conflict
			claim  workstation.Claim
			holder workstation.Issuer // the newcomer's key is dev
			shared bool               // both tokens
			want   string
		}{
			{workstation.Refuse, workstation.Yield, dev, false, refused},
			{workstation.Refuse, workstation.Yield, colleague, true, joins},
			{workstation.Refuse, workstation.TakeOwn, dev, false, replaces},
			{workstation.Refuse, workstation.TakeOwn, dev, true, replaces},
			{workstation.Refuse, workstation.TakeOwn, colleague, false, refused},
			{workstation.Refuse, workstation.TakeAny, colleague, false, replaces},
			{workstation.Refuse, workstation.TakeAny, colleague, true, replaces},
			{workstation.Replace, workstation.Yield, colleague, false, refused},
			{workstation.Replace, workstation.TakeOwn, colleague, false, replaces},
			{workstation.Share, workstation.Yield, colleague, false, joins},
			{workstation.Share, workstation.TakeOwn, colleague, false, joins},
			{workstation.Share, workstation.TakeAny, colleague, false, replaces},
		} {
			t.Run(fmt.Sprint(tc.rule, tc.claim, tc.holder.Key, tc.shared), func(t *testing.T) {
				g := open(func(p *workstation.Policy) { p.OnConflict = tc.rule })
				asked := workstation.Options{Once: true, Claim: tc.claim, Shared: tc.shared}
				early := issueTo(t, dev, g.a, asked) // while the workstation is free
				there := mustJoin(t, g.a, issueTo(t, tc.holder, g.a, workstation.Options{Shared: tc.shared}), viewer)
				_, err := g.b.Issue(dev, "desk1", asked)
				if tc.want == refused {
					wantOccupied(t, err, there, tc.holder.Key, tc.shared)
				} else if err != nil {
					t.Fatal(err)
				}
				newcomer, err := join(g.b, early, other)
				if tc.want == refused {
					wantRefusal(t, err, workstation.RefusedBusy)
				} else if err != nil {
					t.Fatal(err)
				} else {
					wantOpen(t, newcomer)
				}
				if tc.want == replaces {
					wantEnded(t, there, workstation.ReasonReplaced)
				} else {
					wantOpen(t, there)
				}
			})
		}
	})
}

// wantOccupied checks that a refusal names who has the workstation.
func wantOccupied(t *testing.T, err error, there *workstation.Session, key string, joinable bool) {
	t.Helper()
	wantFault(t, err, apierror.WorkstationOccupied)
	var e *apierror.Error
	var got workstation.Occupied
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
