package gateway_test

import (
	"crypto/rand"
	"net/netip"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

// startDesktops starts a configuration with a key and the named workstations.
func startDesktops(t *testing.T, state *gateway.State, key string, names ...string) *rig {
	t.Helper()
	config := desktop.Config{State: state.Workstations, Storage: new(desktoptest.Storage), Random: rand.Reader, Policy: desktop.Policy{Domain: "vnc.example.com"}}
	for _, name := range names {
		config.Workstations = append(config.Workstations, desktop.Spec{ID: desktop.ID{Tenant: keys.DefaultTenant, Name: name}, Target: desktop.Target{TestCard: testcard.Serve}})
	}
	service, err := desktop.New(config)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, gateway.Config{State: state, Workstations: service, Keyring: newRing(t,
		keys.Spec{Name: key, Secrets: []string{secret}, Scopes: []string{"workstations:connect"}})})
	if err := r.Start(t.Context(), activity.Retention{}); err != nil {
		t.Fatal(err)
	}
	return r
}

// view opens a session at the workstation, with an address that the key dev asked for.
func (r *rig) view(t *testing.T, name string) *desktop.Session {
	t.Helper()
	return r.viewAs(t, name, "", desktop.Options{})
}

func (r *rig) viewAs(t *testing.T, name, user string, o desktop.Options) *desktop.Session {
	t.Helper()
	return join(t, r.pass(t, name, user, o), "x509none")
}

// viewWith is view for a viewer that shows its token in another way.
func (r *rig) viewWith(t *testing.T, name, security string) *desktop.Session {
	t.Helper()
	return join(t, r.pass(t, name, "", desktop.Options{}), security)
}

// viewer is the address of every viewer.
var viewer = netip.MustParseAddrPort("192.0.2.1:40000")

func join(t *testing.T, pass *desktop.Pass, security string) *desktop.Session {
	t.Helper()
	session, err := pass.Join(viewer, security)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// pass is a viewer's with an address that the key dev asked for.
func (r *rig) pass(t *testing.T, name, user string, o desktop.Options) *desktop.Pass {
	t.Helper()
	credential, err := r.Authenticate(secret, "")
	if err != nil {
		t.Fatal(err)
	}
	issued, err := gateway.VNCOf(r.Gateway).Workstations().Issue(desktop.Issuer{Tenant: credential.Tenant, Key: credential.Name, KeyHash: credential.Hash, User: user}, name, o)
	if err != nil {
		t.Fatal(err)
	}
	label, _, _ := strings.Cut(issued.URL, ".")
	pass, err := gateway.VNCOf(r.Gateway).Workstations().Find(label, viewer.Addr())
	if err != nil {
		t.Fatal(err)
	}
	return pass
}

func wantSession(t *testing.T, when string, s *desktop.Session, ended desktop.Reason) {
	t.Helper()
	why := desktop.Reason("")
	select {
	case <-s.Ended():
		why = s.Why()
	default:
	}
	if why != ended {
		t.Errorf("%s: the session ended with %q, want %q", when, why, ended)
	}
}
