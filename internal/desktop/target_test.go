package desktop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
)

// What a run-time workstation may be at, asked as the dialer asks once a name is resolved.
func TestResolvedAddressesAreChecked(t *testing.T) {
	everything := []string{"0.0.0.0/0", "::/0"}
	for _, tc := range []struct {
		resolved string
		networks []string
		want     bool
	}{
		{"10.0.0.7:5901", []string{"10.0.0.0/8"}, true},
		{"10.0.0.7:5901", []string{"10.0.0.7/32"}, true},
		{"[::ffff:10.0.0.7]:5901", []string{"10.0.0.0/8"}, true},
		{"11.0.0.7:5901", []string{"10.0.0.0/8"}, false},
		{"11.0.0.7:5901", nil, false},
		{"192.0.2.9:5901", everything, true},
		{"[2001:db8::7]:5901", everything, true},
		{"127.0.0.1:5901", everything, false},
		{"127.8.9.1:5901", everything, false},
		{"[::ffff:127.0.0.1]:5901", everything, false},
		{"[::1]:5901", everything, false},
		{"[::127.0.0.1]:5901", everything, false},
		{"[64:ff9b::7f00:1]:5901", everything, false},
		{"[2002:7f00:1::]:5901", everything, false},
		{"0.0.0.0:5901", everything, false},
		{"[::]:5901", everything, false},
		{"169.254.169.254:80", everything, false},
		{"169.254.169.254:80", []string{"169.254.0.0/16"}, false},
		{"[::ffff:169.254.169.254]:80", everything, false},
		{"[fd00:ec2::254]:80", everything, false},
		{"[fd00:ec2::254]:80", []string{"fd00::/8"}, false},
		{"[fe80::1%eth0]:5901", everything, false},
		{"224.0.0.1:5901", everything, false},
		{"[ff02::1]:5901", everything, false},
		{"255.255.255.255:5901", everything, false},
		{"192.0.2.1:5900", everything, false}, // our own listener
		{"[::ffff:192.0.2.1]:5900", everything, false},
		{"192.0.2.1:5901", everything, true},
		// named exactly
		{"127.0.0.1:5901", []string{"127.0.0.1/32"}, true},
		{"127.0.0.2:5901", []string{"127.0.0.1/32", "127.0.0.0/8"}, false},
		{"[::ffff:127.0.0.1]:5901", []string{"127.0.0.1/32"}, true},
		{"[::1]:5901", []string{"::1/128"}, true},
		{"[fe80::1%eth0]:5901", []string{"fe80::1/128"}, true},
		{"192.0.2.1:5900", []string{"192.0.2.1/32"}, true},
		{"name.example:5901", everything, false}, // not resolved at all
		{"/run/vnc.sock", everything, false},
	} {
		var networks []netip.Prefix
		for _, n := range tc.networks {
			networks = append(networks, netip.MustParsePrefix(n))
		}
		own := func(ap netip.AddrPort) bool { return ap == netip.MustParseAddrPort("192.0.2.1:5900") }
		target := desktop.Guarded("desk.example:5901", networks...)
		if err := target.Permit("tcp", tc.resolved, own); (err == nil) != tc.want {
			t.Errorf("%s in %v: %v", tc.resolved, tc.networks, err)
		}
	}
	declared := desktop.Target{Address: "127.0.0.1:5901"}
	if err := declared.Permit("tcp4", "127.0.0.1:5901", func(netip.AddrPort) bool { return true }); err != nil {
		t.Error("a declared workstation is restricted:", err)
	}
}

func TestDialing(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	exact := netip.MustParsePrefix("127.0.0.1/32")
	for name, target := range map[string]*desktop.Target{
		"declared":      {Address: ln.Addr().String()},
		"named exactly": desktop.Guarded(ln.Addr().String(), exact),
	} {
		conn, err := target.Dial(ctx, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		conn.Close()
	}
	gone, stop := context.WithCancel(ctx)
	stop()
	text := desktop.ErrUnreachable.Error()
	for name, tc := range map[string]struct {
		ctx    context.Context
		target *desktop.Target
	}{
		"closed":    {ctx, desktop.Guarded(closed.Addr().String(), exact)},
		"filtered":  {ctx, desktop.Guarded(ln.Addr().String(), netip.MustParsePrefix("127.0.0.0/8"))},
		"cancelled": {gone, desktop.Guarded(ln.Addr().String(), exact)},
		"test card": {ctx, &desktop.Target{TestCard: testcard.Serve}},
	} {
		conn, err := tc.target.Dial(tc.ctx, nil)
		if conn != nil || !errors.Is(err, desktop.ErrUnreachable) || err.Error() != text {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && errors.Unwrap(err) == nil {
			t.Errorf("%s: the cause is lost for the log", name)
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	d := open(t, func(c *desktop.Config) { c.VNCAuth = true })
	label := mustIssue(t, d, "desk1")
	pass, err := d.Find(label, viewer.Addr())
	if err != nil {
		t.Fatal(err)
	}
	x := mustJoin(t, d, label, viewer)
	login := desktop.Credential{User: "hunter2", Password: "hunter2"}
	target := desktop.Target{Address: "hunter2:1", User: "hunter2", Password: "hunter2"}
	things := []any{
		target, &target, login, &login, config(nil), d.Policy(), pass, *pass, pass.Target, d, d.State(), x,
		desktop.Spec{ID: desk1, Target: target}, []desktop.Target{target},
	}
	for _, thing := range things {
		texts := []string{fmt.Sprint(thing)}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			texts = append(texts, fmt.Sprintf(verb, thing))
		}
		if encoded, err := json.Marshal(thing); err == nil {
			texts = append(texts, string(encoded))
		}
		for _, text := range texts {
			if strings.Contains(text, "hunter2") || strings.Contains(text, "68756e746572") || strings.Contains(text, label[:8]) || strings.Contains(text, "104 117 110") {
				t.Errorf("%T prints %s", thing, text)
			}
		}
	}
}
