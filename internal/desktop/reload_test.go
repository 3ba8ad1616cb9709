package desktop_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

// A reload may name another storage: it gets what memory knows, and what it
// has from long ago does not open a desktop.
func TestAnotherStorageAfterAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state, before, after := memory.NewState(time.Now), new(desktoptest.Storage), new(desktoptest.Storage)
		on := func(s *desktoptest.Storage) *desktop.Service {
			return open(t, func(c *desktop.Config) { c.State, c.Storage = state, s })
		}
		on(after).Release(t.Context(), "default", "desk1", desktop.Releaser{})
		time.Sleep(time.Second)
		on(after).Restore(t.Context(), "default", "desk1")
		time.Sleep(time.Second)
		d := on(before)
		if err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		register(t, d, "default", "run", "10.0.0.1:5900")
		moved := on(after)
		_, err := moved.Issue(dev, "desk1", desktop.Options{})
		wantFault(t, err, apierror.NotFound, "")
		restarted := open(t, func(c *desktop.Config) { c.Storage = after })
		_, err = restarted.Issue(dev, "desk1", desktop.Options{})
		wantFault(t, err, apierror.NotFound, "")
		mustIssue(t, restarted, "run")
	})
}

// Two processes share a storage: what one released is released in the other with its next start.
func TestAStartTakesOverWhatAnotherProcessReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, state := new(desktoptest.Storage), memory.NewState(time.Now)
		here := func() *desktop.Service {
			return open(t, func(c *desktop.Config) { c.State, c.Storage = state, storage })
		}
		ours := here()
		register(t, ours, "default", "run", "10.0.0.1:5900")
		label := mustIssue(t, ours, "run")
		x := mustJoin(t, ours, label, viewer)
		theirs := open(t, func(c *desktop.Config) { c.Storage = storage })
		time.Sleep(time.Second)
		if err := theirs.Release(t.Context(), "default", "run", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		wantOpen(t, x)
		reloaded := here()
		wantEnded(t, x, desktop.ReasonReleased)
		_, err := reloaded.Find(label, viewer.Addr())
		wantRefusal(t, err, desktop.RefusedReleased)
	})
}

func TestAReleasedRegistrationThatIsDeclaredLaterStaysReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := new(desktoptest.Storage)
		boot := func(declared bool) *desktop.Service {
			return open(t, func(c *desktop.Config) {
				c.Storage = storage
				if !declared {
					c.Workstations = nil
				}
			})
		}
		d := boot(false)
		register(t, d, "default", "desk1", "10.0.0.1:5900")
		if err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		for _, declared := range []bool{true, false, true} {
			d = boot(declared)
			if v, err := d.Get("default", "desk1"); err != nil || v.State != desktop.StateReleased {
				t.Errorf("declared %v: %+v, %v", declared, v, err)
			}
			time.Sleep(8 * 24 * time.Hour)
		}
		_, err := d.Issue(dev, "desk1", desktop.Options{})
		wantFault(t, err, apierror.NotFound, "")
	})
}

func TestOldReleasedRegistrationsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, state := new(desktoptest.Storage), memory.NewState(time.Now)
		d := open(t, func(c *desktop.Config) { c.Storage, c.State = storage, state })
		for _, name := range []string{"run", "kept"} {
			register(t, d, "default", name, "10.0.0.1:5900")
		}
		for _, name := range []string{"run", "desk1"} {
			if err := d.Release(t.Context(), "default", name, desktop.Releaser{}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(7*24*time.Hour - 1)
		register(t, d, "default", "other", "10.0.0.1:5900")
		if v, err := d.Get("default", "run"); err != nil || v.State != desktop.StateReleased {
			t.Errorf("gone too early: %+v, %v", v, err)
		}
		time.Sleep(time.Hour) // a look an hour
		register(t, d, "default", "third", "10.0.0.1:5900")
		_, err := d.Get("default", "run")
		wantFault(t, err, apierror.NotFound, "")
		if len(storage.Values()) != 4 { // kept, other, third and the mark of desk1
			t.Errorf("%d values are stored", len(storage.Values()))
		}
		if v, _ := d.Get("default", "desk1"); v.State != desktop.StateReleased {
			t.Error("a declared workstation opened by itself")
		}
		if kept, real := state.Registered("default"); kept != 3 || real != 3 {
			t.Errorf("%d registered, counted as %d", real, kept)
		}
		time.Sleep(30 * 24 * time.Hour)
		restarted := open(t, func(c *desktop.Config) { c.Storage = storage })
		if v, _ := restarted.Get("default", "desk1"); v.State != desktop.StateReleased {
			t.Error("a declared workstation opened with a restart")
		}
	})
}

// The later word counts, also where it comes from a machine whose clock is late.
func TestARestoreCountsThoughTheClockIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, state := new(desktoptest.Storage), memory.NewState(time.Now)
		late := func() time.Time { return time.Now().Add(-time.Hour) }
		here := func() *desktop.Service {
			return open(t, func(c *desktop.Config) { c.State, c.Storage = state, storage })
		}
		if err := here().Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		there := open(t, func(c *desktop.Config) { c.Storage, c.State = storage, memory.NewState(late) })
		if err := there.Restore(t.Context(), "default", "desk1"); err != nil {
			t.Fatal(err)
		}
		mustIssue(t, here(), "desk1")
	})
}
