package desktop_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func TestAWaitForAWorkstationEndsWithItsReason(t *testing.T) {
	nobody := func(desktop.Issuer) bool { return false }
	for name, c := range map[string]struct {
		then func(t *testing.T, d *desktop.Service)
		want desktop.RefusalCode // "": it goes on
	}{
		"a release": {func(t *testing.T, d *desktop.Service) {
			_ = d.Release(t.Context(), "default", "run", desktop.Releaser{})
		}, desktop.RefusedReleased},
		"another machine":  {func(t *testing.T, d *desktop.Service) { mustRegister(t, d, "run", machine("vm-2", "10.0.0.1:5900")) }, desktop.RefusedReleased},
		"another address":  {func(t *testing.T, d *desktop.Service) { mustRegister(t, d, "run", machine("vm-1", "10.0.0.2:5900")) }, desktop.RefusedReleased},
		"the same machine": {func(t *testing.T, d *desktop.Service) { mustRegister(t, d, "run", machine("vm-1", "10.0.0.1:5900")) }, ""},
		"another release": {func(t *testing.T, d *desktop.Service) {
			_ = d.Release(t.Context(), "default", "desk1", desktop.Releaser{})
		}, ""},
		"the key's end":     {func(_ *testing.T, d *desktop.Service) { d.State().Revoke("default", "dev") }, desktop.RefusedRevoked},
		"a reload":          {func(_ *testing.T, d *desktop.Service) { desktop.Commit(d.State(), d, nobody) }, desktop.RefusedRevoked},
		"the process's end": {func(_ *testing.T, d *desktop.Service) { d.State().EndAll(desktop.ReasonShutdown) }, desktop.RefusedShutdown},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := open(t, derived)
			mustRegister(t, d, "run", machine("vm-1", "10.0.0.1:5900"))
			pass, err := d.Find(mustIssue(t, d, "run"), viewer.Addr())
			if err != nil {
				t.Fatal(err)
			}
			var why desktop.RefusalCode
			stop, err := pass.Watch(func(refusal *desktop.Refusal) { why = refusal.Code })
			if err != nil {
				t.Fatal(err)
			}
			if n := d.State().Open(); n != 0 {
				t.Errorf("%s: %d sessions are open", name, n)
			}
			c.then(t, d)
			synctest.Wait()
			stop()
			if why != c.want {
				t.Errorf("%s: %q, want %q", name, why, c.want)
			}
		})
	}
}

func TestAWaitForAWorkstationOfASourceEndsWithItsRelease(t *testing.T) {
	asking(t, func(t *testing.T, d *desktop.Service, _ *plane) {
		label, _ := issue(t, d, "lab1", desktop.Options{})
		var why desktop.RefusalCode
		stop, err := wantLocated(t, d, label).Watch(func(refusal *desktop.Refusal) { why = refusal.Code })
		if err == nil {
			err = d.Release(t.Context(), "default", "lab1", desktop.Releaser{})
		}
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if stop(); why != desktop.RefusedReleased {
			t.Errorf("%q", why)
		}
	})
}

// It may have ended since the pass was found.
func TestNobodyWaitsForAWorkstationThatIsGone(t *testing.T) {
	d := open(t, nil)
	pass, err := d.Find(mustIssue(t, d, "desk1"), viewer.Addr())
	if err == nil {
		err = d.Release(t.Context(), "default", "desk1", desktop.Releaser{})
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = pass.Watch(func(*desktop.Refusal) { t.Error("called") })
	wantRefusal(t, err, desktop.RefusedReleased)
}

// Why one viewer waits no more says nothing of the workstation to the others.
func TestALoginThatWasGivenUpIsNoFailureOfTheWorkstation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, ctx := newService(t, nil), t.Context()
		first := wantLogin(t, "the first", login(ctx, d, desk1), "")
		second := login(ctx, d, desk1)
		time.Sleep(time.Second)
		first(desktop.RefusedRevoked)
		wantLogin(t, "the second", second, "")("")
		third, fourth := wantLogin(t, "the third", login(ctx, d, desk1), ""), wantLogin(t, "the fourth", login(ctx, d, desk1), "")
		third(desktop.RefusedReleased)
		fourth("")
		wantLogin(t, "those after one that was right", login(ctx, d, desk1), "")("")
	})
}
