package workstation_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// A reload may drop workstations altogether, while requests and viewers of the
// configuration before are still under way.
func TestWithoutADeskInForceAnOldOneOpensNothing(t *testing.T) {
	old, again := reload(t)
	state := old.State()
	older := again(nil)
	state.Commit(older, nil)
	label := mustIssue(t, old, "desk1")
	pass, err := old.Find(label, viewer.Addr())
	if err != nil {
		t.Fatal(err)
	}
	x := mustEnter(t, old, mustIssue(t, old, "desk2"), viewer)

	state.Commit(nil, nil)
	wantEnded(t, x, workstation.ReasonRemoved)
	for name, d := range map[string]*workstation.Service{"the one in force before": older, "an older one": old} {
		for _, desk := range []string{"desk1", "desk2"} {
			if _, err := d.Issue(dev, desk, workstation.Options{}); err == nil {
				t.Errorf("%s issues for %s", name, desk)
			} else {
				wantFault(t, err, apierror.NotFound, "")
			}
		}
		_, err := pass.Join(viewer, "none")
		wantRefusal(t, err, workstation.RefusedRevoked)
		_, err = d.Find(label, viewer.Addr())
		wantRefusal(t, err, workstation.RefusedRevoked)
	}
	if places, tokens, _, _ := state.Sizes(); places != 0 || tokens != 0 || state.Open() != 0 {
		t.Errorf("%d places, %d tokens, %d sessions", places, tokens, state.Open())
	}

	back := again(nil) // it is not in force yet, but will be
	mustEnter(t, back, mustIssue(t, back, "desk1"), viewer)
	state.Commit(back, nil)
	mustIssue(t, back, "desk2")
	// What the new one has too, a late request of the old one may still ask for.
	mustEnter(t, back, mustIssue(t, old, "desk2"), viewer)
}

// The keys of a configuration are known by name and by secret.
func TestCommitAsksForTheWholeIssuer(t *testing.T) {
	old, again := reload(t)
	state := old.State()
	issuers := map[string]workstation.Issuer{
		"kept":        {Tenant: "default", Key: "dev", KeyHash: "11"},
		"another key": {Tenant: "default", Key: "bob", KeyHash: "11"},
		"leaked":      {Tenant: "default", Key: "dev", KeyHash: "22"},
	}
	open, unused := map[string]*workstation.Session{}, map[string]string{}
	desks := map[string]string{"kept": "desk1", "another key": "desk2", "leaked": "run"}
	if _, _, err := old.Register(t.Context(), "default", "run", workstation.Registration{Address: "10.0.0.1:5900"}); err != nil {
		t.Fatal(err)
	}
	for name, by := range issuers {
		var labels [2]string
		for i := range labels {
			issued, err := old.Issue(by, desks[name], workstation.Options{})
			if err != nil {
				t.Fatal(err)
			}
			labels[i] = issued.URL[:26]
		}
		open[name], unused[name] = mustEnter(t, old, labels[0], viewer), labels[1]
	}
	next := again(nil)
	state.Commit(next, func(by workstation.Issuer) bool { return by == issuers["kept"] })
	for name := range issuers {
		if name == "kept" {
			wantOpen(t, open[name])
		} else {
			wantEnded(t, open[name], workstation.ReasonRemoved)
		}
		if next.Live(unused[name]) != (name == "kept") {
			t.Errorf("%s: live is %v", name, next.Live(unused[name]))
		}
	}
	_, err := old.Issue(issuers["leaked"], "desk1", workstation.Options{}) // of a request under way
	wantFault(t, err, apierror.NotFound, "")
}
