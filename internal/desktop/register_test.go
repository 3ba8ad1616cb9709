package desktop_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

func register(t testing.TB, d *desktop.Service, tenant, name, address string) (desktop.View, bool) {
	t.Helper()
	v, created, err := d.Register(t.Context(), tenant, name, desktop.Registration{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	return v, created
}

func TestRegisteringARunTimeWorkstation(t *testing.T) {
	d := open(t, nil)
	v, created, err := d.Register(t.Context(), "default", "run", desktop.Registration{Address: "10.0.0.1:5901", Credential: "lab"})
	if err != nil || !created || v.Source != desktop.SourceRegistered || v.Address != "10.0.0.1:5901" || v.State != desktop.StateAvailable || v.RegisteredAt.IsZero() {
		t.Fatalf("%+v, %v, %v", v, created, err)
	}
	pass, err := d.Find(mustIssue(t, d, "run"), viewer.Addr())
	if err != nil || pass.Target.Address != "10.0.0.1:5901" || pass.Target.Password != "hunter2-lab" {
		t.Fatalf("%+v, %v", pass, err)
	}
	if _, created := register(t, d, "default", "run", "10.0.0.2:5901"); created {
		t.Error("a change is told as a creation")
	}
	if err := d.Release(t.Context(), "default", "run", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	if v, created := register(t, d, "default", "run", "10.0.0.2:5901"); created || v.State != desktop.StateAvailable || !v.ReleasedAt.IsZero() {
		t.Errorf("%+v, created %v", v, created)
	}
	mustIssue(t, d, "run")
}

func TestTheSameRegistrationAgainWritesNothing(t *testing.T) {
	var writes atomic.Int32
	storage := new(desktoptest.Storage)
	storage.Before = func(op, _ string) {
		if op == "store" {
			writes.Add(1)
		}
	}
	d := open(t, func(c *desktop.Config) { c.Storage = storage })
	for range 3 {
		register(t, d, "default", "run", "10.0.0.1:5901")
	}
	if writes.Load() != 1 {
		t.Errorf("%d writes", writes.Load())
	}
}

func TestRegistrationsThatAreRefused(t *testing.T) {
	d := open(t, nil)
	for name, tc := range map[string]struct {
		workstation string
		r           desktop.Registration
		code        apierror.Code
		param       string
	}{
		"no address":         {"run", desktop.Registration{}, apierror.MissingParameter, "address"},
		"only a credential":  {"run", desktop.Registration{Credential: "lab"}, apierror.MissingParameter, "address"},
		"no port":            {"run", desktop.Registration{Address: "10.0.0.1"}, apierror.InvalidValue, "address"},
		"outside":            {"run", desktop.Registration{Address: "11.0.0.1:5900"}, apierror.InvalidValue, "address"},
		"loopback":           {"run", desktop.Registration{Address: "127.0.0.1:5900"}, apierror.InvalidValue, "address"},
		"loopback, mapped":   {"run", desktop.Registration{Address: "[::ffff:127.0.0.1]:5900"}, apierror.InvalidValue, "address"},
		"unknown credential": {"run", desktop.Registration{Address: "10.0.0.1:5900", Credential: "prod"}, apierror.InvalidValue, "credential"},
		"bad name":           {"a/b", desktop.Registration{Address: "10.0.0.1:5900"}, apierror.InvalidValue, "workstation_id"},
		"empty name":         {"", desktop.Registration{Address: "10.0.0.1:5900"}, apierror.InvalidValue, "workstation_id"},
		"long name":          {strings.Repeat("a", 129), desktop.Registration{Address: "10.0.0.1:5900"}, apierror.InvalidValue, "workstation_id"},
		"declared":           {"desk1", desktop.Registration{Address: "10.0.0.1:5900"}, apierror.WorkstationConflict, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := d.Register(t.Context(), "default", tc.workstation, tc.r)
			wantFault(t, err, tc.code, tc.param)
		})
	}
	if len(d.List(only("default"))) != 2 {
		t.Errorf("%+v", d.List(only("default")))
	}
	off := open(t, func(c *desktop.Config) { c.Networks = nil })
	_, _, err := off.Register(t.Context(), "default", "run", desktop.Registration{Address: "10.0.0.1:5900"})
	wantFault(t, err, apierror.UnsupportedParameter, "address")
	if !strings.Contains(err.Error(), "register_networks") {
		t.Errorf("the option is not named: %v", err)
	}
}

func TestTheEmptyRegistrationRestoresADeclaredWorkstation(t *testing.T) {
	d := open(t, func(c *desktop.Config) { c.Networks = nil }) // needs no registration
	for _, released := range []bool{false, true} {
		if released {
			if err := d.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
				t.Fatal(err)
			}
		}
		v, created, err := d.Register(t.Context(), "default", "desk1", desktop.Registration{})
		if err != nil || created || v.State != desktop.StateAvailable || v.Source != desktop.SourceDeclared {
			t.Errorf("released %v: %+v, %v, %v", released, v, created, err)
		}
	}
	mustIssue(t, d, "desk1")
}

func TestTenantsDoNotSeeEachOther(t *testing.T) {
	d := open(t, nil)
	register(t, d, "acme", "desk1", "10.0.0.1:5900") // declared in the other tenant
	register(t, d, "acme", "run", "10.0.0.2:5900")
	register(t, d, "default", "run", "10.0.0.3:5900")
	ours, _ := issue(t, d, "run", desktop.Options{})
	x := mustJoin(t, d, ours, viewer)
	if err := d.Release(t.Context(), "acme", "run", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	if err := d.Release(t.Context(), "acme", "desk1", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	wantOpen(t, x)
	mustIssue(t, d, "desk1")
	if _, err := d.Issue(desktop.Issuer{Tenant: "acme", Key: "k"}, "desk2", desktop.Options{}); err == nil {
		t.Error("a token for another tenant's workstation")
	}
	wantFault(t, d.Release(t.Context(), "acme", "desk2", desktop.Releaser{}), apierror.NotFound, "")
	wantFault(t, d.Restore(t.Context(), "acme", "desk2"), apierror.NotFound, "")
	names := func(views []desktop.View) string {
		var b strings.Builder
		for _, v := range views {
			fmt.Fprintf(&b, "%s/%s=%s ", v.Tenant, v.Name, v.State)
		}
		return b.String()
	}
	if got := names(d.List(only("acme"))); got != "acme/desk1=released acme/run=released " {
		t.Error(got)
	}
	if got := names(d.List(everyTenant)); got != "acme/desk1=released acme/run=released default/desk1=available default/desk2=available default/run=available " {
		t.Error(got)
	}
	if got := d.List(only("nobody")); got == nil || len(got) != 0 {
		t.Error(got)
	}
}

func TestATenantRegistersSoMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, state := new(desktoptest.Storage), memory.NewState(time.Now)
		d := open(t, func(c *desktop.Config) { c.MaxRegistered, c.Storage, c.State = 3, storage, state })
		for i := range 3 {
			register(t, d, "default", fmt.Sprint("run", i), "10.0.0.1:5900")
			time.Sleep(time.Nanosecond)
		}
		_, _, err := d.Register(t.Context(), "default", "run9", desktop.Registration{Address: "10.0.0.1:5900"})
		wantFault(t, err, apierror.WorkstationsExceeded, "")
		register(t, d, "default", "run0", "10.0.0.9:5900") // a change needs no room
		register(t, d, "acme", "run9", "10.0.0.1:5900")
		for _, name := range []string{"run2", "run1"} { // run2 was released first
			if err := d.Release(t.Context(), "default", name, desktop.Releaser{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Nanosecond)
		}
		register(t, d, "default", "run9", "10.0.0.1:5900")
		_, err = d.Get("default", "run2")
		wantFault(t, err, apierror.NotFound, "")
		if _, err := d.Get("default", "run1"); err != nil {
			t.Error("the wrong one was forgotten:", err)
		}
		if len(storage.Values()) != 4 {
			t.Errorf("%d values are stored", len(storage.Values()))
		}
		if kept, real := state.Registered("default"); kept != 3 || real != 3 {
			t.Errorf("%d registered, counted as %d", real, kept)
		}
	})
}

func TestTwoCallersDoNotTakeTheLastRoomTwice(t *testing.T) {
	state := memory.NewState(time.Now)
	d := open(t, func(c *desktop.Config) { c.MaxRegistered, c.State = 5, state })
	var all sync.WaitGroup
	var created atomic.Int32
	for i := range 40 {
		all.Go(func() {
			if _, ok, err := d.Register(context.Background(), "default", fmt.Sprint("run", i), desktop.Registration{Address: "10.0.0.1:5900"}); err == nil && ok {
				created.Add(1)
			}
		})
	}
	all.Wait()
	if kept, real := state.Registered("default"); created.Load() != 5 || kept != 5 || real != 5 {
		t.Errorf("%d created, %d there, counted as %d", created.Load(), real, kept)
	}
}

func TestACredentialOfOtherTenantsIsNotThere(t *testing.T) {
	state, storage := memory.NewState(time.Now), new(desktoptest.Storage)
	lab := func(tenants ...string) *desktop.Service {
		return open(t, func(c *desktop.Config) {
			c.State, c.Storage = state, storage
			c.Credentials = map[string]desktop.Credential{"lab": {Password: "hunter2-lab", Tenants: tenants}}
		})
	}
	r := desktop.Registration{Address: "10.0.0.1:5900", Credential: "lab"}
	_, _, err := lab("acme").Register(t.Context(), "default", "run", r)
	wantFault(t, err, apierror.InvalidValue, "credential")
	d := lab("acme", "default")
	if _, _, err := d.Register(t.Context(), "default", "run", r); err != nil {
		t.Fatal(err)
	}
	label := mustIssue(t, d, "run")
	if _, err := d.Find(label, viewer.Addr()); err != nil {
		t.Error(err)
	}
	_, err = lab("acme").Find(label, viewer.Addr()) // taken from it by a reload
	wantRefusal(t, err, desktop.RefusedUnavailable)
}

func TestACredentialThatIsGoneMakesAWorkstationUnreachable(t *testing.T) {
	state, storage := memory.NewState(time.Now), new(desktoptest.Storage)
	d := open(t, func(c *desktop.Config) { c.State, c.Storage = state, storage })
	if _, _, err := d.Register(t.Context(), "default", "run", desktop.Registration{Address: "10.0.0.1:5900", Credential: "lab"}); err != nil {
		t.Fatal(err)
	}
	label := mustIssue(t, d, "run")
	next := open(t, func(c *desktop.Config) { c.State, c.Storage, c.Credentials = state, storage, nil })
	_, err := next.Find(label, viewer.Addr())
	wantRefusal(t, err, desktop.RefusedUnavailable)
}

func TestAReleaseDuringAChangeWins(t *testing.T) {
	storage := new(desktoptest.Storage)
	d := open(t, func(c *desktop.Config) { c.Storage = storage })
	register(t, d, "default", "run", "10.0.0.1:5900")
	released := make(chan error, 1)
	var once sync.Once
	marked := make(chan struct{})
	storage.Before = func(op, _ string) {
		if op == "store" {
			once.Do(func() {
				go func() { released <- d.Release(context.Background(), "default", "run", desktop.Releaser{}) }()
				for v, _ := d.Get("default", "run"); v.State != desktop.StateReleased; v, _ = d.Get("default", "run") {
					runtime.Gosched()
				}
				close(marked)
			})
		}
	}
	v, _ := register(t, d, "default", "run", "10.0.0.2:5900")
	<-marked
	if v.State != desktop.StateReleased || v.Address != "10.0.0.2:5900" {
		t.Errorf("%+v", v)
	}
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	restarted := open(t, func(c *desktop.Config) { c.Storage = storage })
	if v, err := restarted.Get("default", "run"); err != nil || v.State != desktop.StateReleased || v.Address != "10.0.0.2:5900" {
		t.Errorf("after a restart: %+v, %v", v, err)
	}
}
