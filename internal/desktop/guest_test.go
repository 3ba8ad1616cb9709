package desktop_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// guestOf issues an address for a guest.
func guestOf(t testing.TB, d *desktop.Service, host *desktop.Session, o desktop.Options) (label string, issued desktop.Issued) {
	t.Helper()
	o.Guest.Host = host.ID
	return issue(t, d, host.Workstation.Name, o)
}

func TestAGuestStandsBesideItsHostAndEndsWithIt(t *testing.T) {
	for _, rule := range []desktop.Conflict{desktop.Refuse, desktop.Replace, desktop.Share} {
		for name, end := range map[string]func(d *desktop.Service, host *desktop.Session){
			"the host leaves":  func(_ *desktop.Service, host *desktop.Session) { host.Leave() },
			"by hand":          func(d *desktop.Service, host *desktop.Session) { _ = d.EndSession("default", "desk1", host.ID, "") },
			"by another limit": func(_ *desktop.Service, host *desktop.Session) { host.End(desktop.ReasonIdle); host.Leave() },
		} {
			d := open(t, func(c *desktop.Config) { c.OnConflict = rule })
			label, _ := issue(t, d, "desk1", desktop.Options{})
			host := mustJoin(t, d, label, viewer)
			guest, _ := guestOf(t, d, host, desktop.Options{})
			second, _ := guestOf(t, d, host, desktop.Options{})
			x := mustJoin(t, d, guest, other)
			y := mustJoin(t, d, guest, viewer) // the same address again
			wantOpen(t, host)
			wantOpen(t, x)
			end(d, host)
			wantEnded(t, x, desktop.ReasonHostLeft)
			wantEnded(t, y, desktop.ReasonHostLeft)
			x.Leave()
			for _, label := range []string{guest, second} {
				_, err := join(d, label, other)
				wantRefusal(t, err, desktop.RefusedHostLeft)
			}
			_, err := d.Issue(dev, "desk1", desktop.Options{Guest: desktop.Guest{Host: host.ID}})
			if wantFault(t, err, apierror.NotFound, ""); t.Failed() {
				t.Fatal(rule, name)
			}
		}
	}
}

func TestAReleaseEndsHostAndGuests(t *testing.T) {
	d := open(t, nil)
	label, _ := issue(t, d, "desk1", desktop.Options{})
	host := mustJoin(t, d, label, viewer)
	guest, _ := guestOf(t, d, host, desktop.Options{})
	x := mustJoin(t, d, guest, other)
	if err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	wantEnded(t, host, desktop.ReasonReleased)
	if <-x.Ended(); x.Why() == "" {
		t.Error("the guest is there")
	}
}

// A guest keeps nobody away, and a newcomer that takes the workstation ends it with its host.
func TestAGuestOccupiesNothing(t *testing.T) {
	d := open(t, func(c *desktop.Config) { c.OnConflict = desktop.Replace })
	label, _ := issue(t, d, "desk1", desktop.Options{})
	host := mustJoin(t, d, label, viewer)
	guest, _ := guestOf(t, d, host, desktop.Options{})
	x := mustJoin(t, d, guest, other)
	_, err := d.Issue(dev, "desk1", desktop.Options{Claim: desktop.Yield})
	wantFault(t, err, apierror.WorkstationOccupied, "")
	newcomer, _ := issue(t, d, "desk1", desktop.Options{})
	y := mustJoin(t, d, newcomer, other)
	wantEnded(t, host, desktop.ReasonReplaced)
	wantEnded(t, x, desktop.ReasonHostLeft)
	wantOpen(t, y)
}

func TestOneGuestMoreThanMayComeIsRefused(t *testing.T) {
	for most, rules := range map[int]desktop.SessionRules{
		desktop.DefaultMaxGuests: {}, 1: {MaxGuests: 1}, 0: {MaxGuests: desktop.NoGuests},
	} {
		d := open(t, func(c *desktop.Config) { c.Tenants = map[string]desktop.SessionRules{"default": rules} })
		label, _ := issue(t, d, "desk1", desktop.Options{})
		host := mustJoin(t, d, label, viewer)
		var address string
		for range most {
			address, _ = guestOf(t, d, host, desktop.Options{})
			mustJoin(t, d, address, other)
		}
		_, err := d.Issue(dev, "desk1", desktop.Options{Guest: desktop.Guest{Host: host.ID}})
		wantFault(t, err, apierror.WorkstationGuestsExceeded, "")
		if most > 0 { // an address is not used twice to come in
			_, err = join(d, address, viewer)
			wantRefusal(t, err, desktop.RefusedGuests)
		}
		if open, err := d.Sessions("default", "desk1"); err != nil || open[0].Guests != most {
			t.Errorf("%+v, %v, want %d guests", open, err, most)
		}
	}
}

// Its host's rules are a guest's, whoever has invited it.
func TestAGuestMayNoMoreThanItsHost(t *testing.T) {
	d := open(t, nil)
	yes, no := true, false
	label, _ := issue(t, d, "desk1", desktop.Options{ViewOnly: &yes, Rules: desktop.SessionRules{NoClipboardOut: true, MaxDuration: time.Minute}})
	host := mustJoin(t, d, label, viewer)
	guest, _ := guestOf(t, d, host, desktop.Options{ViewOnly: &no})
	x := mustJoin(t, d, guest, other)
	if x.Until().After(host.Until()) {
		t.Errorf("it ends at %v, its host at %v", x.Until(), host.Until())
	}
	if open, err := d.Sessions("default", "desk1"); err != nil || len(open) != 2 || !open[1].ViewOnly || !open[1].Rules.NoClipboardOut {
		t.Errorf("%+v, %v", open, err)
	}
	_, err := d.Issue(dev, "desk1", desktop.Options{Guest: desktop.Guest{Host: x.ID}})
	wantFault(t, err, apierror.NotFound, "") // a guest invites nobody
}

func TestTheAnswerToAnInvitationHasTheRulesOfTheHost(t *testing.T) {
	d := open(t, nil)
	label, _ := issue(t, d, "desk1", desktop.Options{Rules: desktop.SessionRules{ViewOnly: true, NoClipboardOut: true, FPS: 5}})
	host := mustJoin(t, d, label, viewer)
	may := false
	_, issued := guestOf(t, d, host, desktop.Options{ViewOnly: &may})
	if r := issued.Rules; !r.ViewOnly || !r.NoClipboardOut || r.FPS != 5 {
		t.Errorf("%+v", r)
	}
}
