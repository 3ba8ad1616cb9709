package desktop_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func TestATokenIsOneLabelOfTheDomain(t *testing.T) {
	d := open(t, nil)
	label, issued := issue(t, d, "desk1", desktop.Options{})
	if issued.URL != label+".vnc.example.com:5900" {
		t.Errorf("URL %q", issued.URL)
	}
	if len(label) != 26 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz234567") != "" {
		t.Errorf("token %q", label)
	}
	if issued.Workstation != "desk1" || len(issued.TokenID) != 12 || strings.Contains(label, issued.TokenID) {
		t.Errorf("%+v", issued)
	}
	pass, err := d.Find(strings.ToUpper(label), viewer.Addr())
	if err != nil {
		t.Fatal("capitals:", err)
	}
	if pass.Workstation != desk1 || pass.Key != "dev" || pass.TokenID != issued.TokenID || pass.Target.Password != "hunter2-desk1" {
		t.Errorf("%+v", pass)
	}
}

func TestAnUnusedTokenLivesUntilItExpires(t *testing.T) {
	for name, tc := range map[string]struct {
		options desktop.Options
		life    time.Duration
	}{
		"by default":   {desktop.Options{}, 5 * time.Minute},
		"as asked for": {desktop.Options{ExpiresIn: time.Second}, time.Second},
		"at most":      {desktop.Options{ExpiresIn: 12 * time.Hour}, 12 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := open(t, nil)
				label, issued := issue(t, d, "desk1", tc.options)
				if got := time.Until(issued.ExpiresAt); got != tc.life {
					t.Errorf("expires in %s", got)
				}
				time.Sleep(tc.life - 1)
				pass, err := d.Find(label, viewer.Addr())
				if err != nil || !d.Live(label) {
					t.Fatal("a moment before:", err)
				}
				time.Sleep(time.Nanosecond)
				if d.Live(label) {
					t.Error("live at its end")
				}
				_, err = d.Find(label, viewer.Addr())
				wantRefusal(t, err, desktop.RefusedExpired)
				_, err = pass.Join(viewer, "none")
				wantRefusal(t, err, desktop.RefusedExpired)
			})
		})
	}
}

func TestLookingAtATokenDoesNotUseIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, nil)
		label, _ := issue(t, d, "desk1", desktop.Options{})
		time.Sleep(5*time.Minute - 1)
		for range 3 {
			if _, err := d.Find(label, viewer.Addr()); err != nil || !d.Live(label) {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Nanosecond)
		_, err := d.Find(label, viewer.Addr())
		wantRefusal(t, err, desktop.RefusedExpired)
	})
}

func TestAUsedTokenIsGoodForReconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, func(c *desktop.Config) { c.OnConflict = desktop.Share })
		label, _ := issue(t, d, "desk1", desktop.Options{})
		first, second := mustJoin(t, d, label, viewer), mustJoin(t, d, label, viewer)
		time.Sleep(time.Hour) // far beyond connect_within
		first.Leave()
		time.Sleep(time.Hour) // the second is still there
		second.Leave()
		time.Sleep(2*time.Minute - 1)
		again := mustJoin(t, d, label, viewer)
		again.Leave()
		again.Leave() // counts once
		time.Sleep(2*time.Minute - 1)
		if !d.Live(label) {
			t.Fatal("dead before reconnect_within was over")
		}
		time.Sleep(time.Nanosecond)
		_, err := join(d, label, viewer)
		wantRefusal(t, err, desktop.RefusedExpired)
	})
}

func TestNothingOutlivesMaxDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, func(c *desktop.Config) { c.OnConflict = desktop.Share })
		label, issued := issue(t, d, "desk1", desktop.Options{ExpiresIn: 12 * time.Hour})
		end := time.Now().Add(12 * time.Hour)
		if !issued.ExpiresAt.Equal(end) {
			t.Errorf("expires %s", issued.ExpiresAt)
		}
		x := mustJoin(t, d, label, viewer)
		if !x.Until().Equal(end) {
			t.Errorf("the session may last until %s", x.Until())
		}
		time.Sleep(12*time.Hour - 1)
		mustJoin(t, d, label, viewer)
		time.Sleep(time.Nanosecond)
		_, err := join(d, label, viewer)
		wantRefusal(t, err, desktop.RefusedExpired)
		fresh, _ := issue(t, d, "desk1", desktop.Options{})
		mustJoin(t, d, fresh, viewer)
		wantEnded(t, x, desktop.ReasonMaxDuration) // though its relay was asleep
	})
}

func TestTokensEndWithTheKeyThatAskedForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, nil)
		by := dev
		by.Until = time.Now().Add(time.Minute)
		issued, err := d.Issue(by, "desk1", desktop.Options{})
		if err != nil || !issued.ExpiresAt.Equal(by.Until) {
			t.Fatal(issued.ExpiresAt, err)
		}
		label, _, _ := strings.Cut(issued.URL, ".")
		if x := mustJoin(t, d, label, viewer); !x.Until().Equal(by.Until) {
			t.Errorf("the session may last until %s", x.Until())
		}
		time.Sleep(time.Minute)
		if d.Live(label) {
			t.Error("live without its key")
		}
	})
}

func TestExpiresInHasBounds(t *testing.T) {
	d := open(t, nil)
	for _, life := range []time.Duration{-1, 1, time.Second - 1, 12*time.Hour + 1} {
		_, err := d.Issue(dev, "desk1", desktop.Options{ExpiresIn: life})
		wantFault(t, err, apierror.InvalidValue, "expires_in")
	}
}

func TestViewOnlyIsThePolicysUnlessTheIssuerSays(t *testing.T) {
	yes, no := true, false
	for _, policy := range []bool{false, true} {
		d := open(t, func(c *desktop.Config) { c.ViewOnly = policy })
		for _, tc := range []struct {
			asked *bool
			want  bool
		}{{nil, policy}, {&yes, true}, {&no, false}} {
			label, issued := issue(t, d, "desk1", desktop.Options{ViewOnly: tc.asked})
			x := mustJoin(t, d, label, viewer)
			x.Leave()
			if issued.Rules.ViewOnly != tc.want || x.ViewOnly() != tc.want {
				t.Errorf("policy %v: issued %v, session %v, want %v", policy, issued.Rules.ViewOnly, x.ViewOnly(), tc.want)
			}
		}
	}
}

func TestWithoutRandomnessThereIsNoTokenAndNoSession(t *testing.T) {
	d := open(t, func(c *desktop.Config) { c.Random = io.LimitReader(c.Random, 17) })
	label, _ := issue(t, d, "desk1", desktop.Options{})
	if _, err := d.Issue(dev, "desk1", desktop.Options{}); err == nil {
		t.Error("a token without randomness")
	}
	if _, err := join(d, label, viewer); err == nil {
		t.Error("a session without randomness")
	}
}
