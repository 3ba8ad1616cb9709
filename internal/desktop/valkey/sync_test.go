//go:build unix

package valkey_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// send sends a list of workstations, each "name generation".
func send(t testing.TB, w *desktop.Service, source string, complete bool, items ...string) (desktop.Synced, error) {
	t.Helper()
	var all []string
	for _, item := range items {
		name, machine, _ := strings.Cut(item, " ")
		all = append(all, fmt.Sprintf(`{"workstation_id":%q,"address":"10.0.0.1:5900","generation":%q}`, name, machine))
	}
	l := &desktop.Sync{Source: source, Complete: complete}
	if _, err := l.Set("items", []byte("["+strings.Join(all, ",")+"]")); err != nil {
		t.Fatal(err)
	}
	return l.Apply(t.Context(), w.Registry, "default")
}

// many are more workstations than are stored together.
func many() (items []string) {
	for i := range 300 {
		items = append(items, fmt.Sprintf("run%d vm-%d", i, i))
	}
	return items
}

func TestAListOfAControlPlane(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		g := open(nil)
		want := func(done desktop.Synced, err error, created, changed, released, unchanged, refused int) {
			t.Helper()
			if err != nil || done.Created != created || done.Changed != changed || done.Released != released || done.Unchanged != unchanged || len(done.Refused) != refused {
				t.Errorf("%+v, %v", done, err)
			}
		}
		all := many()
		done, err := send(t, g.a, "ctl-a", true, append(all, "desk1 vm-1")...)
		want(done, err, 300, 0, 0, 0, 1)
		done, err = send(t, g.b, "ctl-b", true, "run0 vm-0", "other vm-1")
		want(done, err, 1, 0, 0, 0, 1)
		stays := mustJoin(t, g.b, issue(t, g.a, "run1", desktop.Options{}), viewer)
		replaced := mustJoin(t, g.b, issue(t, g.a, "run0", desktop.Options{}), viewer)
		gone := mustJoin(t, g.b, issue(t, g.b, "run299", desktop.Options{}), viewer)
		done, err = send(t, g.b, "ctl-a", true, append([]string{"run0 vm-new"}, all[1:299]...)...)
		want(done, err, 0, 1, 1, 298, 0)
		wantEnded(t, replaced, desktop.ReasonReleased)
		wantEnded(t, gone, desktop.ReasonReleased)
		wantOpen(t, stays)
		if _, err := send(t, g.a, "ctl-a", true); err == nil || apierror.From(err).Code != apierror.SyncRefused {
			t.Errorf("an empty list: %v", err)
		}
		wantOpen(t, stays)
		done, err = send(t, g.a, "ctl-b", true)
		want(done, err, 0, 0, 1, 0, 0)
		if _, err := g.b.Issue(dev, "other", desktop.Options{}); err == nil {
			t.Error("what was released is open at the other gateway")
		}
	})
}

// What another gateway has changed meanwhile is not overwritten, and nothing else of the list is stored.
func TestRecordsThatAreLateAreNotStored(t *testing.T) {
	_, a, b := two(t, nil)
	register(t, a.Service, "run", machine("vm-1", "10.0.0.1:5900"))
	var records []desktop.StoredRecord
	for _, name := range []string{"run1", "run"} {
		records = append(records, desktop.StoredRecord{ID: desktop.ID{Tenant: "default", Name: name}, Value: []byte("{}")})
	}
	if err := b.records.Store(t.Context(), records); !errors.Is(err, desktop.ErrChanged) {
		t.Errorf("got %v", err)
	}
	b.look(t)
	if view, err := b.Get("default", "run"); err != nil || view.Machine != "vm-1" {
		t.Errorf("%+v, %v", view, err)
	}
	if _, err := b.Get("default", "run1"); err == nil {
		t.Error("a part of the list was stored")
	}
}
