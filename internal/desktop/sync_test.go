package desktop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// list is a list of a source as its control plane sends it.
func list(t testing.TB, source string, complete, force bool, items ...string) *desktop.Sync {
	t.Helper()
	l := &desktop.Sync{By: "ctl"}
	for name, value := range map[string]string{
		"source": fmt.Sprintf("%q", source), "complete": fmt.Sprint(complete), "force": fmt.Sprint(force),
		"items": "[" + strings.Join(items, ",") + "]",
	} {
		if known, err := l.Set(name, []byte(value)); err != nil || !known {
			t.Fatalf("%s: known %v, %v", name, known, err)
		}
	}
	return l
}

// item is one workstation of a list.
func item(name, machine string) string {
	return fmt.Sprintf(`{"workstation_id":%q,"address":"10.0.0.1:5900","generation":%q}`, name, machine)
}

// items are workstations of the generation 1.
func items(from, to int) (all []string) {
	for i := from; i < to; i++ {
		all = append(all, item(fmt.Sprint("run", i), "1"))
	}
	return all
}

func apply(t testing.TB, d *desktop.Service, l *desktop.Sync) string {
	t.Helper()
	done, err := l.Apply(t.Context(), d.Registry, "default")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(done)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAListRegistersAndReleases(t *testing.T) {
	d := open(t, func(c *desktop.Config) { c.MaxRegistered = 100 })
	want := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	want(apply(t, d, list(t, "ctl-a", true, false, items(0, 20)...)), `{"created":20,"changed":0,"released":0,"unchanged":0,"refused":[]}`)
	x := mustJoin(t, d, mustIssue(t, d, "run0"), viewer)
	y := mustJoin(t, d, mustIssue(t, d, "run19"), viewer)
	z := mustJoin(t, d, mustIssue(t, d, "run1"), viewer)
	want(apply(t, d, list(t, "ctl-a", true, false, append(items(1, 19), item("run0", "2"))...)), `{"created":0,"changed":1,"released":1,"unchanged":18,"refused":[]}`)
	wantEnded(t, x, desktop.ReasonReleased) // another machine
	wantEnded(t, y, desktop.ReasonReleased) // not named
	wantOpen(t, z)
	if x.EndedBy() != "ctl" || y.EndedBy() != "ctl" {
		t.Errorf("ended by %q and %q", x.EndedBy(), y.EndedBy())
	}
	want(apply(t, d, list(t, "ctl-a", false, false, item("run19", "1"))), `{"created":1,"changed":0,"released":0,"unchanged":0,"refused":[]}`)
}

func TestACompleteListThatLacksTooManyIsRefused(t *testing.T) {
	for _, tc := range []struct {
		has, named int
		force      bool
		released   int // -1: the list is refused
	}{
		{10, 0, false, 10}, {11, 0, false, -1}, {11, 0, true, 11}, {11, 5, false, -1}, {11, 6, false, 5}, {20, 10, false, 10}, {20, 9, false, -1},
	} {
		d := open(t, nil)
		apply(t, d, list(t, "ctl-b", true, false, item("other", "1")))
		apply(t, d, list(t, "ctl-a", true, false, items(0, tc.has)...))
		done, err := list(t, "ctl-a", true, tc.force, items(0, tc.named)...).Apply(t.Context(), d.Registry, "default")
		there := 0
		for _, v := range d.List(only("default")) {
			if v.Source == "ctl-a" && v.State == desktop.StateAvailable {
				there++
			}
		}
		if tc.released < 0 {
			wantFault(t, err, apierror.SyncRefused, "")
			if there != tc.has {
				t.Errorf("%+v: %d are left", tc, there)
			}
			continue
		}
		if err != nil || done.Released != tc.released || there != tc.has-tc.released {
			t.Errorf("%+v: %+v, %v, %d are left", tc, done, err, there)
		}
		mustIssue(t, d, "other")
	}
}

func TestAnItemThatIsRefusedKeepsWhatIsThere(t *testing.T) {
	d := open(t, func(c *desktop.Config) { c.MaxRegistered = 12 })
	apply(t, d, list(t, "ctl-b", true, false, item("other", "1")))
	mustRegister(t, d, "hand", desktop.Registration{Address: "10.0.0.1:5900"})
	apply(t, d, list(t, "ctl-a", true, false, items(0, 10)...))
	x := mustJoin(t, d, mustIssue(t, d, "run0"), viewer)
	for refused, want := range map[string]string{
		`{"address":"10.0.0.1:22222x","workstation_id":"run0"}`:                   `invalid_value address`,
		`{"address":"11.0.0.1:5900","workstation_id":"run0"}`:                     `invalid_value address`,
		`{"address":5,"workstation_id":"run0"}`:                                   `invalid_value address`,
		`{"address":"10.0.0.1:5900","colour":1,"workstation_id":"run0"}`:          `unsupported_parameter colour`,
		`{"address":"10.0.0.1:5900","source":"ctl-b","workstation_id":"run0"}`:    `invalid_value source`,
		`{"address":"10.0.0.1:5900","credential":"prod","workstation_id":"run0"}`: `invalid_value credential`,
		item("run0", "1") + "," + item("run0", "2"):                               `invalid_value workstation_id`,
		item("other", "1") + "," + item("run0", "1"):                              `workstation_conflict source`,
		item("desk1", "1") + "," + item("run0", "1"):                              `workstation_conflict`,
		`{"address":"10.0.0.1:5900","workstation_id":"a/b"},` + item("run0", "1"): `invalid_value workstation_id`,
		item("new", "1") + "," + item("run0", "1"):                                `workstations_exceeded`,
	} {
		got, err := list(t, "ctl-a", true, false, append(items(1, 10), refused)...).Apply(t.Context(), d.Registry, "default")
		if err != nil || got.Released != 0 || got.Created+got.Changed != 0 || len(got.Refused) != 1 {
			t.Errorf("%s: %+v, %v", refused, got, err)
			continue
		}
		text := string(got.Refused[0].Code)
		if got.Refused[0].Param != nil {
			text += " " + *got.Refused[0].Param
		}
		if text != want || got.Refused[0].Message == "" || got.Refused[0].Name == "" {
			t.Errorf("%s: %+v", refused, got.Refused[0])
		}
		wantOpen(t, x)
	}
}

func TestListsThatAreRefusedAsAWhole(t *testing.T) {
	d := open(t, nil)
	for name, tc := range map[string]struct {
		l     *desktop.Sync
		param string
	}{
		"no source":          {list(t, "", true, false), "source"},
		"a bad source":       {list(t, "a/b", true, false), "source"},
		"no items":           {&desktop.Sync{Source: "ctl-a"}, "items"},
		"a nameless item":    {list(t, "ctl-a", true, false, `{"address":"10.0.0.1:5900"}`), "workstation_id"},
		"no item":            {list(t, "ctl-a", true, false, `5`), "workstation_id"},
		"a name given twice": {list(t, "ctl-a", true, false, `{"workstation_id":"a","workstation_id":"b"}`), "workstation_id"},
	} {
		_, err := tc.l.Apply(t.Context(), d.Registry, "default")
		var refused *apierror.Error
		if !errors.As(err, &refused) || refused.Param != tc.param || refused.HTTPStatus() != 400 {
			t.Errorf("%s: %v", name, err)
		}
	}
	many := "[" + strings.Repeat("{},", 10_000) + "{}]"
	for name, value := range map[string]string{"items": many, "source": "1", "complete": "1", "force": `"yes"`} {
		if _, err := new(desktop.Sync).Set(name, []byte(value)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, err := new(desktop.Sync).Set("items", []byte("[1]"+"")); err != nil {
		t.Error(err)
	}
	if known, _ := new(desktop.Sync).Set("item", nil); known {
		t.Error("an unknown member is known")
	}
}

func TestAListStopsWhereTheStorageOrTheCallerDoes(t *testing.T) {
	storage := new(desktoptest.Storage)
	d := open(t, func(c *desktop.Config) { c.Storage = storage })
	storage.FailWith(errors.New("disk full"))
	_, err := list(t, "ctl-a", true, false, items(0, 3)...).Apply(t.Context(), d.Registry, "default")
	wantFault(t, err, apierror.StorageUnavailable, "")
	storage.FailWith(nil)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if done, err := list(t, "ctl-a", true, false, items(0, 3)...).Apply(gone, d.Registry, "default"); err == nil || done.Created != 0 {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestAListOf10000IsCompared(t *testing.T) {
	const n = 10_000
	d := open(t, func(c *desktop.Config) { c.MaxRegistered = n })
	all := items(0, n)
	apply(t, d, list(t, "ctl-a", true, false, all...))
	if got := apply(t, d, list(t, "ctl-a", true, false, all...)); got != `{"created":0,"changed":0,"released":0,"unchanged":10000,"refused":[]}` {
		t.Error(got)
	}
	if got := apply(t, d, list(t, "ctl-a", true, false, all[1:]...)); got != `{"created":0,"changed":0,"released":1,"unchanged":9999,"refused":[]}` {
		t.Error(got)
	}
	_, err := list(t, "ctl-a", true, false).Apply(t.Context(), d.Registry, "default")
	wantFault(t, err, apierror.SyncRefused, "")
}

// A fleet that is replaced needs no room for both.
func TestAListMakesRoomBeforeItRegisters(t *testing.T) {
	const n = 500
	d := open(t, func(c *desktop.Config) { c.MaxRegistered = n })
	for i := range 3 {
		if got := apply(t, d, list(t, "ctl-a", true, true, items(i*n, i*n+n)...)); !jsontest.Has(t, got, fmt.Sprintf(`{"created":%d,"changed":0,"released":%d}`, n, min(i, 1)*n)) {
			t.Error(got)
		}
	}
	if kept, real := d.State().Registered("default"); kept != n || real != n {
		t.Errorf("%d are registered, counted as %d", real, kept)
	}
}

// A list of 10,000 that changes nothing is what a control plane sends each minute: it is to take less
// than 300 ms.
func BenchmarkAListWithoutChanges(b *testing.B) {
	const n = 10_000
	d := open(b, func(c *desktop.Config) { c.MaxRegistered = n })
	apply(b, d, list(b, "ctl-a", true, false, items(0, n)...))
	text := []byte("[" + strings.Join(items(0, n), ",") + "]")
	for b.Loop() {
		l := &desktop.Sync{Source: "ctl-a", Complete: true}
		if _, err := l.Set("items", text); err != nil {
			b.Fatal(err)
		}
		if done, err := l.Apply(b.Context(), d.Registry, "default"); err != nil || done.Unchanged != n {
			b.Fatal(done, err)
		}
	}
}
