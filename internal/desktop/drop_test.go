package desktop_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// A reload may drop workstations altogether, while requests and viewers of the
// configuration before are still under way.
func TestWithoutACurrentServiceAnOldOneOpensNothing(t *testing.T) {
	old, again := reload(t)
	state := old.State()
	older := again(nil)
	desktop.Commit(state, older, nil)
	label := mustIssue(t, old, "desk1")
	pass, err := old.Find(label, viewer.Addr())
	if err != nil {
		t.Fatal(err)
	}
	x := mustJoin(t, old, mustIssue(t, old, "desk2"), viewer)

	desktop.Commit(state, nil, nil)
	wantEnded(t, x, desktop.ReasonRemoved)
	for which, d := range map[string]*desktop.Service{"the current one before": older, "an older one": old} {
		for _, name := range []string{"desk1", "desk2"} {
			if _, err := d.Issue(dev, name, desktop.Options{}); err == nil {
				t.Errorf("%s issues for %s", which, name)
			} else {
				wantFault(t, err, apierror.NotFound, "")
			}
		}
		_, err := pass.Join(viewer, "none")
		wantRefusal(t, err, desktop.RefusedRevoked)
		_, err = d.Find(label, viewer.Addr())
		wantRefusal(t, err, desktop.RefusedRevoked)
	}
	x.Leave()
	if records, held, _ := state.Kept(); records != 0 || held != 0 || state.Open() != 0 {
		t.Errorf("%d records, %d workstations, %d sessions", records, held, state.Open())
	}

	back := again(nil) // it is not current yet, but will be
	mustJoin(t, back, mustIssue(t, back, "desk1"), viewer)
	desktop.Commit(state, back, nil)
	mustIssue(t, back, "desk2")
	// A late request of the old one may still ask for what the new one has too.
	mustJoin(t, back, mustIssue(t, old, "desk2"), viewer)
}

// The keys of a configuration are known by name and by secret.
func TestCommitAsksForTheWholeIssuer(t *testing.T) {
	old, again := reload(t)
	state := old.State()
	issuers := map[string]desktop.Issuer{
		"kept":        {Tenant: "default", Key: "dev", KeyHash: "11"},
		"another key": {Tenant: "default", Key: "bob", KeyHash: "11"},
		"leaked":      {Tenant: "default", Key: "dev", KeyHash: "22"},
	}
	open, unused := map[string]*desktop.Session{}, map[string]string{}
	desks := map[string]string{"kept": "desk1", "another key": "desk2", "leaked": "run"}
	if _, _, err := old.Register(t.Context(), "default", "run", desktop.Registration{Address: "10.0.0.1:5900"}); err != nil {
		t.Fatal(err)
	}
	for name, by := range issuers {
		var labels [2]string
		for i := range labels {
			issued, err := old.Issue(by, desks[name], desktop.Options{})
			if err != nil {
				t.Fatal(err)
			}
			labels[i] = issued.URL[:26]
		}
		open[name], unused[name] = mustJoin(t, old, labels[0], viewer), labels[1]
	}
	next := again(nil)
	desktop.Commit(state, next, func(by desktop.Issuer) bool { return by == issuers["kept"] })
	for name := range issuers {
		if name == "kept" {
			wantOpen(t, open[name])
		} else {
			wantEnded(t, open[name], desktop.ReasonRemoved)
		}
		if next.Live(unused[name]) != (name == "kept") {
			t.Errorf("%s: live is %v", name, next.Live(unused[name]))
		}
	}
	_, err := old.Issue(issuers["leaked"], "desk1", desktop.Options{}) // of a request under way
	wantFault(t, err, apierror.NotFound, "")
}
