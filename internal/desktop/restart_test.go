package desktop_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

func TestRegistrationsAndReleasesSurviveARestart(t *testing.T) {
	storage := new(desktoptest.Storage)
	boot := func() *desktop.Service {
		return open(t, func(c *desktop.Config) { c.Storage = storage })
	}
	d := boot()
	before, created, err := d.Register(t.Context(), "default", "run", desktop.Registration{Address: "10.0.0.1:5901", Credential: "lab"})
	if err != nil || !created {
		t.Fatal(err)
	}
	register(t, d, "default", "gone", "10.0.0.2:5901")
	label := mustIssue(t, d, "run")
	for _, name := range []string{"desk1", "gone"} {
		if err := d.Release(t.Context(), "default", name, desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range storage.Values() {
		if bytes.Contains(value, []byte("hunter2")) || bytes.Contains([]byte(key), []byte("desk")) {
			t.Errorf("%s holds %s", key, value)
		}
	}

	d = boot()
	after, err := d.Get("default", "run")
	if err != nil || !after.RegisteredAt.Equal(before.RegisteredAt) || after.Address != before.Address {
		t.Errorf("%+v, %v; before %+v", after, err, before)
	}
	_, err = d.Find(label, viewer.Addr()) // tokens do not survive, by design
	wantRefusal(t, err, desktop.RefusedUnknown)
	for _, name := range []string{"desk1", "gone"} {
		_, err = d.Issue(dev, name, desktop.Options{})
		wantFault(t, err, apierror.NotFound, "")
		if err := d.Restore(t.Context(), "default", name); err != nil {
			t.Fatal(err)
		}
	}
	d = boot()
	for _, name := range []string{"desk1", "gone"} {
		mustIssue(t, d, name)
	}
}

func TestAServiceThatHasNotStartedOpensNothing(t *testing.T) {
	d := newService(t, nil)
	_, err := d.Issue(dev, "desk1", desktop.Options{})
	wantFault(t, err, apierror.StorageUnavailable, "")
	_, _, err = d.Register(t.Context(), "default", "run", desktop.Registration{Address: "10.0.0.1:5900"})
	wantFault(t, err, apierror.StorageUnavailable, "")
	wantFault(t, d.Release(t.Context(), "default", "desk1", desktop.Releaser{}), apierror.StorageUnavailable, "")
	wantFault(t, d.Restore(t.Context(), "default", "desk1"), apierror.StorageUnavailable, "")
	_, err = d.Find(strings.Repeat("a", 26), viewer.Addr())
	wantRefusal(t, err, desktop.RefusedUnavailable)
	_, err = d.FindByMatch(func(string) bool { return true }, viewer.Addr())
	wantRefusal(t, err, desktop.RefusedUnavailable)
}

func TestAnUnreadableStorageStopsTheStart(t *testing.T) {
	broken := errors.New("no route to host")
	for _, op := range []string{"list", "load", "store"} {
		storage := new(desktoptest.Storage)
		storage.Put(desk1.Key(), desktop.RecordOf(desk1, "10.0.0.1:5900", "", time.Now()))
		state := memory.NewState(time.Now)
		if op == "store" { // memory knows a release that the storage must get
			d := open(t, func(c *desktop.Config) { c.State = state })
			if err := d.Release(t.Context(), "default", "desk2", desktop.Releaser{}); err != nil {
				t.Fatal(err)
			}
		}
		failing := &failsAt{Storage: storage, op: op, err: broken}
		storage.Before = failing.note
		d := newService(t, func(c *desktop.Config) { c.Storage, c.State = failing, state })
		if err := d.Start(t.Context()); !errors.Is(err, broken) {
			t.Errorf("%s: %v", op, err)
		}
		if _, err := d.Issue(dev, "desk1", desktop.Options{}); err == nil {
			t.Errorf("%s: a token for a service that did not start", op)
		}
		storage.FailWith(nil)
		failing.op = ""
		if err := d.Start(t.Context()); err != nil {
			t.Errorf("%s: the second start: %v", op, err)
		}
	}
}

// failsAt is a storage whose calls of one kind fail.
type failsAt struct {
	*desktoptest.Storage
	op  string
	err error
}

func (s *failsAt) note(op, _ string) {
	if op == s.op {
		s.FailWith(s.err)
	}
}

func TestDamagedValuesAreNamedByTheirKey(t *testing.T) {
	good := string(desktop.RecordOf(desk1, "10.0.0.1:5900", "lab", time.Now()))
	for name, value := range map[string]string{
		"empty":          "",
		"cut":            good[:len(good)/2],
		"two":            good + good,
		"later version":  strings.Replace(good, `"version":1`, `"version":4`, 1),
		"later member":   strings.Replace(good, `"lab"`, `"lab","generation":"vm-1"`, 1),
		"bad generation": strings.Replace(good, `"version":1`, `"version":2,"generation":"a b"`, 1),
		"no version":     strings.Replace(good, `"version":1,`, ``, 1),
		"unknown field":  strings.Replace(good, `"version":1`, `"version":1,"x":1`, 1),
		"another's":      strings.Replace(good, `desk1`, `desk2`, 1),
		"no address":     strings.Replace(good, `"address":"10.0.0.1:5900",`, ``, 1),
		"bad address":    strings.Replace(good, `10.0.0.1:5900`, `10.0.0.1`, 1),
		"bad credential": strings.Replace(good, `"lab"`, `"la b"`, 1),
		"too long":       good + strings.Repeat(" ", 16384),
		"no time":        strings.Replace(good, `changed_at`, `registered_at`, 1),
	} {
		storage := new(desktoptest.Storage)
		storage.Put(desk1.Key(), []byte(value))
		d := newService(t, func(c *desktop.Config) { c.Storage = storage })
		if err := d.Start(t.Context()); err == nil || !strings.Contains(err.Error(), desk1.Key()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestForeignKeysBesideTheRecords(t *testing.T) {
	storage := new(desktoptest.Storage)
	storage.Put("gatehouse/workstations/.tmp-123", []byte("half a write"))
	storage.Put(desk1.Key()+".bak", []byte("somebody's copy"))
	open(t, func(c *desktop.Config) { c.Storage = storage })

	// A storage that lists otherwise than agreed would hide release marks.
	d := newService(t, func(c *desktop.Config) { c.Storage = relative{storage} })
	if err := d.Start(t.Context()); err == nil {
		t.Error("started on keys that are not under the folder")
	}
}

type relative struct{ *desktoptest.Storage }

func (r relative) List(ctx context.Context, path string, deep bool) ([]string, error) {
	keys, err := r.Storage.List(ctx, path, deep)
	for i, k := range keys {
		keys[i] = strings.TrimPrefix(k, path+"/")
	}
	return keys, err
}
