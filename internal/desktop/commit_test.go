package desktop_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

// reload is a State with a current service that has everything.
func reload(t *testing.T) (first *desktop.Service, again func(change func(*desktop.Config)) *desktop.Service) {
	state, storage := memory.NewState(time.Now), new(desktoptest.Storage)
	again = func(change func(*desktop.Config)) *desktop.Service {
		return open(t, func(c *desktop.Config) {
			c.State, c.Storage = state, storage
			if change != nil {
				change(c)
			}
		})
	}
	return again(nil), again
}

func withoutDesk2(c *desktop.Config) { c.Workstations = c.Workstations[:1] }

func TestCommitEndsWhatTheNewConfigurationHasDropped(t *testing.T) {
	old, again := reload(t)
	state := old.State()
	if _, _, err := old.Register(t.Context(), "default", "run", desktop.Registration{Address: "10.0.0.1:5900"}); err != nil {
		t.Fatal(err)
	}
	bob := desktop.Issuer{Tenant: "default", Key: "bob"}
	labels := map[string]string{}
	sessions := map[string]*desktop.Session{}
	for name, by := range map[string]desktop.Issuer{"desk1": bob, "desk2": dev, "run": dev} {
		issued, err := old.Issue(by, name, desktop.Options{})
		if err != nil {
			t.Fatal(err)
		}
		labels[name] = issued.URL[:26]
		sessions[name] = mustJoin(t, old, labels[name], viewer)
	}
	kept, _ := issue(t, old, "desk1", desktop.Options{})

	next := again(withoutDesk2)
	for name, x := range sessions { // it has started, but is not current
		wantOpen(t, x)
		if name != "desk2" && !next.Live(labels[name]) {
			t.Errorf("the next configuration does not know the token of %s", name)
		}
	}
	_, err := next.Find(labels["desk2"], viewer.Addr())
	wantRefusal(t, err, desktop.RefusedUnknown)

	desktop.Commit(state, next, func(by desktop.Issuer) bool { return by.Tenant == "default" && by.Key == "dev" })
	wantEnded(t, sessions["desk1"], desktop.ReasonRemoved) // its key
	wantEnded(t, sessions["desk2"], desktop.ReasonRemoved)
	wantOpen(t, sessions["run"])
	for name, want := range map[string]bool{"desk1": false, "desk2": false, "run": true} {
		if next.Live(labels[name]) != want || old.Live(labels[name]) != want {
			t.Errorf("the token of %s: live is not %v", name, want)
		}
	}
	if !next.Live(kept) {
		t.Error("a token that is still good died")
	}
	_, err = old.Find(labels["desk1"], viewer.Addr())
	wantRefusal(t, err, desktop.RefusedRevoked)
}

func TestAServiceThatNeverCommitsRevokesNothing(t *testing.T) {
	old, again := reload(t)
	label, _ := issue(t, old, "desk2", desktop.Options{})
	x := mustJoin(t, old, label, viewer)
	again(func(c *desktop.Config) { withoutDesk2(c); c.Domain = "other.example.com" })
	wantOpen(t, x)
	if !old.Live(label) {
		t.Error("the token died with a configuration that was rolled back")
	}
	x.Leave()
	mustJoin(t, old, label, viewer)
}

// A request of the old configuration may still be under way.
func TestAnOvertakenServiceIssuesNothingForWhatIsDropped(t *testing.T) {
	old, again := reload(t)
	state := old.State()
	next := again(withoutDesk2)
	pass, err := old.Find(mustIssue(t, old, "desk2"), viewer.Addr())
	if err != nil {
		t.Fatal(err)
	}
	desktop.Commit(state, next, func(by desktop.Issuer) bool { return by.Key == "dev" })
	_, err = old.Issue(dev, "desk2", desktop.Options{})
	wantFault(t, err, apierror.NotFound, "")
	_, err = old.Issue(desktop.Issuer{Tenant: "default", Key: "bob"}, "desk1", desktop.Options{})
	wantFault(t, err, apierror.NotFound, "")
	_, err = pass.Join(viewer, "none")
	wantRefusal(t, err, desktop.RefusedRevoked)
	mustJoin(t, next, mustIssue(t, old, "desk1"), viewer)

	later := again(nil) // brings the workstation back, and is not current yet
	mustJoin(t, later, mustIssue(t, later, "desk2"), viewer)
}

func TestAReleaseHoldsAfterAReload(t *testing.T) {
	old, again := reload(t)
	label := mustIssue(t, old, "desk1")
	x := mustJoin(t, old, label, viewer)
	next := again(nil)
	desktop.Commit(old.State(), next, nil)
	wantOpen(t, x)
	if err := next.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	wantEnded(t, x, desktop.ReasonReleased)
	third := again(nil)
	_, err := third.Issue(dev, "desk1", desktop.Options{})
	wantFault(t, err, apierror.NotFound, "")
}

// Declared, released, dropped, declared again: only a restore opens it.
func TestAReleasedWorkstationStaysSoWhileItIsNotDeclared(t *testing.T) {
	old, again := reload(t)
	if err := old.Release(t.Context(), "default", "desk2", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	without := again(withoutDesk2)
	desktop.Commit(old.State(), without, nil)
	_, err := without.Get("default", "desk2")
	wantFault(t, err, apierror.NotFound, "")
	wantFault(t, without.Restore(t.Context(), "default", "desk2"), apierror.NotFound, "")
	back := again(nil)
	desktop.Commit(old.State(), back, nil)
	_, err = back.Issue(dev, "desk2", desktop.Options{})
	wantFault(t, err, apierror.NotFound, "")
	if err := back.Restore(t.Context(), "default", "desk2"); err != nil {
		t.Fatal(err)
	}
	mustIssue(t, back, "desk2")
}

func TestStateForgetsWhatNobodyHolds(t *testing.T) {
	d, again := reload(t)
	state := d.State()
	for range 10 {
		label := mustIssue(t, d, "desk2")
		x := mustJoin(t, d, label, viewer)
		if err := d.EndSession("default", "desk2", x.ID, ""); err != nil {
			t.Fatal(err)
		}
		x.Leave()
	}
	if records, held, _ := state.Kept(); records != 0 || held != 0 {
		t.Errorf("%d records, %d workstations", records, held)
	}
	_, err := d.Issue(dev, "nowhere", desktop.Options{})
	wantFault(t, err, apierror.NotFound, "")
	mustIssue(t, d, "desk2")
	desktop.Commit(state, again(withoutDesk2), nil)
	if records, held, _ := state.Kept(); records != 0 || held != 0 {
		t.Errorf("after the commit: %d records, %d workstations", records, held)
	}
}
