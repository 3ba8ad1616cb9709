package desktop_test

import (
	"crypto/rand"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

var (
	desk1 = desktop.ID{Tenant: "default", Name: "desk1"}
	desk2 = desktop.ID{Tenant: "default", Name: "desk2"}
	dev   = desktop.Issuer{Tenant: "default", Key: "dev"}

	viewer, other       = desktoptest.Viewer, desktoptest.Other
	join, mustJoin      = desktoptest.Join, desktoptest.MustJoin
	wantRefusal         = desktoptest.WantRefusal
	wantOpen, wantEnded = desktoptest.WantOpen, desktoptest.WantEnded
)

// config declares desk1 and desk2 and allows registrations in 10.0.0.0/8.
func config(change func(*desktop.Config)) desktop.Config {
	c := desktop.Config{
		Policy: desktop.Policy{
			Domain:      "vnc.example.com",
			Networks:    []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
			Credentials: map[string]desktop.Credential{"lab": {Password: "hunter2-lab"}},
		},
		Workstations: []desktop.Spec{
			{ID: desk1, Target: desktop.Target{Address: "127.0.0.1:5901", Password: "hunter2-desk1"}},
			{ID: desk2, Target: desktop.Target{TestCard: testcard.Serve}},
		},
		Random: rand.Reader,
	}
	if change != nil {
		change(&c)
	}
	if c.State == nil {
		c.State = memory.NewState(time.Now)
	}
	if c.Storage == nil {
		c.Storage = new(desktoptest.Storage)
	}
	return c
}

func newService(t testing.TB, change func(*desktop.Config)) *desktop.Service {
	t.Helper()
	d, err := desktop.New(config(change))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// open is a service that has started.
func open(t testing.TB, change func(*desktop.Config)) *desktop.Service {
	t.Helper()
	d := newService(t, change)
	if err := d.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

func issue(t testing.TB, d *desktop.Service, name string, o desktop.Options) (label string, issued desktop.Issued) {
	t.Helper()
	issued, err := d.Issue(dev, name, o)
	if err != nil {
		t.Fatal(err)
	}
	label, _, _ = strings.Cut(issued.URL, ".")
	return label, issued
}

func wantFault(t testing.TB, err error, code apierror.Code, param string) {
	t.Helper()
	var e *apierror.Error
	if !errors.As(err, &e) || e.Code != code || e.Param != param {
		t.Fatalf("got %v, want %s of %q", err, code, param)
	}
}

func mustIssue(t testing.TB, d *desktop.Service, name string) (label string) {
	t.Helper()
	return desktoptest.Issue(t, d, dev, name, desktop.Options{})
}

func only(tenant string) func(string) bool { return func(t string) bool { return t == tenant } }

func everyTenant(string) bool { return true }
