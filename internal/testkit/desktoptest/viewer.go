package desktoptest

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// Two viewers.
var (
	Viewer = netip.MustParseAddrPort("192.0.2.1:40000")
	Other  = netip.MustParseAddrPort("192.0.2.2:40000")
)

// Issue returns the label of a new address.
func Issue(t testing.TB, w *desktop.Service, by desktop.Issuer, name string, o desktop.Options) (label string) {
	t.Helper()
	issued, err := w.Issue(by, name, o)
	if err != nil {
		t.Fatal(err)
	}
	label, _, _ = strings.Cut(issued.URL, ".")
	return label
}

// Join finds and joins.
func Join(w *desktop.Service, label string, from netip.AddrPort) (*desktop.Session, error) {
	pass, err := w.Find(label, from.Addr())
	if err != nil {
		return nil, err
	}
	return pass.Join(from, "x509none")
}

// MustJoin is Join without an error.
func MustJoin(t testing.TB, w *desktop.Service, label string, from netip.AddrPort) *desktop.Session {
	t.Helper()
	x, err := Join(w, label, from)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// WantRefusal fails unless a viewer was refused so, in words that fit on its screen.
func WantRefusal(t testing.TB, err error, code desktop.RefusalCode) {
	t.Helper()
	var r *desktop.Refusal
	if !errors.As(err, &r) || r.Code != code {
		t.Fatalf("got %v, want the refusal %q", err, code)
	}
	if r.Text == "" || len(r.Text) > 80 {
		t.Errorf("%q: the viewer is shown %q", code, r.Text)
	}
}

// WantOpen fails if a session has ended.
func WantOpen(t testing.TB, x *desktop.Session) {
	t.Helper()
	if why := x.Why(); why != "" {
		t.Fatalf("the session ended: %s", why)
	}
}

// WantEnded fails unless a session has ended so.
func WantEnded(t testing.TB, x *desktop.Session, why desktop.Reason) {
	t.Helper()
	select {
	case <-x.Ended():
	default:
		t.Fatal("the session is still open")
	}
	if x.Why() != why {
		t.Errorf("ended because of %q, want %q", x.Why(), why)
	}
}
