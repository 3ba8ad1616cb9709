package screen_test

import (
	"image"
	"image/color"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
)

func TestAnAgentWithoutTheRuleIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(p *desktop.Policy) { p.Session.Automation = desktop.AutomationView })
		_, err := l.open("agent")
		wantCode(t, err, apierror.AutomationOff)
		x, err := l.screens.Open(t.Context(), screen.Who{Gateway: l, Issuer: desktop.Issuer{Tenant: "default", Key: "agent"}, Workstation: "one", Client: viewer})
		if err != nil {
			t.Fatal(err)
		}
		if shot := l.look(x, screen.Want{Region: image.Rect(0, 0, 2, 2)}); at(t, shot.PNG, 0, 0) != (color.RGBA{30, 60, 90, 255}) {
			t.Error("another picture")
		}
		x.Release()
		l.wantClosed(desktop.ReasonViewer)
	})
}

// A run takes minutes.
func TestALowerRuleOfARegistrationEndsARun(t *testing.T) {
	for name, c := range map[string]struct {
		rule  desktop.Automation
		acts  bool
		again apierror.Code // what the same call gets then; "": it goes on
	}{
		"off":  {desktop.AutomationOff, false, apierror.AutomationOff},
		"acts": {desktop.AutomationView, true, apierror.AutomationOff},
		"view": {desktop.AutomationView, false, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, func(p *desktop.Policy) { p.Networks = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
			registration := desktop.Registration{Address: "10.0.0.9:5901"}
			register := func() {
				if _, _, err := l.Service.Register(t.Context(), "default", "two", registration); err != nil {
					t.Fatal(err)
				}
			}
			register()
			who := screen.Who{Gateway: l, Issuer: desktop.Issuer{Tenant: "default", Key: "agent"}, Workstation: "two", Client: viewer, Control: c.acts}
			x, err := l.screens.Open(t.Context(), who)
			if err != nil {
				t.Fatal(err)
			}
			defer x.Release()
			if c.acts {
				must(t, x.Key('a', true))
			}
			registration.Session.Automation = c.rule
			register()
			time.Sleep(time.Second)
			synctest.Wait()
			if ended := x.Session().Why() != ""; ended != (c.again != "") {
				t.Errorf("%s: ended %v", name, ended)
			}
			if c.again != "" {
				_, err = l.screens.Open(t.Context(), who)
				wantCode(t, err, c.again)
			}
		})
	}
}

// An agent that looks at its desktop all the time would never be let act.
func TestAHigherRuleOfARegistrationLetsAnAgentAct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(p *desktop.Policy) { p.Networks = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
		l.several = true
		registration := desktop.Registration{Address: "10.0.0.9:5901"}
		who := screen.Who{Gateway: l, Issuer: desktop.Issuer{Tenant: "default", Key: "agent"}, Workstation: "two", Client: viewer}
		for _, rule := range []desktop.Automation{desktop.AutomationView, desktop.AutomationControl} {
			registration.Session.Automation = rule
			if _, _, err := l.Service.Register(t.Context(), "default", "two", registration); err != nil {
				t.Fatal(err)
			}
			who.Control = rule == desktop.AutomationControl
			x, err := l.screens.Open(t.Context(), who)
			if err != nil {
				t.Fatalf("%s: %v", rule, err)
			}
			if who.Control {
				must(t, x.Key('a', true))
			}
			x.Release()
		}
	})
}
