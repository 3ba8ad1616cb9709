package l4vnc

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// The viewer is shown what is wrong with a workstation, and the operator finds a code and a cause.
func TestAWorkstationThatCannotBeOpenedIsReported(t *testing.T) {
	const password, nonsense = "hunter2", "The workstation did not answer as a VNC server. Tell your administrator."
	trust := &tls.Config{RootCAs: roots(), ServerName: "desk." + domain}
	challenge := "S 0123456789abcdef"
	response, _ := rfb.RespondVNC([16]byte([]byte(challenge[2:])), password)
	vncAuth := conversation{greets, says38, "S \x01\x02", "C \x02", challenge, "C " + string(response[:])}
	for name, c := range map[string]struct {
		target     workstation.Target
		desktop    conversation
		code, text string
	}{
		"a wrong password": {workstation.Target{Password: password}, append(vncAuth[:6:6], refusal("Authentication failed")),
			"workstation_password", "The workstation refused the gateway's password. Tell your administrator."},
		"a blacklisting one": {workstation.Target{}, conversation{"S RFB 003.003\n", says33, "S \x00\x00\x00\x00" + counted("Too many security failures")},
			"workstation_blacklisted", "The workstation refuses connections for a while. Try again in a minute."},
		"a refusing one": {workstation.Target{}, conversation{greets, says38, "S \x00" + counted("Closed today")},
			"workstation_refused", "The workstation refused the connection. Tell your administrator."},
		"nothing in common": {workstation.Target{}, conversation{greets, says38, "S \x02\x10\x1e"},
			"workstation_security", "The workstation offers no security type that the gateway may use. Tell your administrator."},
		"no TLS": {workstation.Target{TLS: trust}, conversation{greets, says38, "S \x02\x01\x02"},
			"workstation_security", "The workstation offers no security type that the gateway may use. Tell your administrator."},
		"a foreign certificate": {workstation.Target{TLS: &tls.Config{ServerName: "other.test", RootCAs: roots()}},
			conversation{greets, says38, "S \x01\x13", "C \x13", "S \x00\x02", "C \x00\x02", "S \x00\x01\x00\x00\x01\x04", "C \x00\x00\x01\x04", "S \x01", "T "},
			"workstation_certificate", "The workstation did not show the expected certificate. Tell your administrator."},
		"a silent one":   {workstation.Target{}, conversation{"W 1h"}, "workstation_timeout", "The workstation did not answer in time. Try again later."},
		"a stalling one": {workstation.Target{}, append(desktopNone[:4:4], "W 1h"), "workstation_timeout", "The workstation did not answer in time. Try again later."},
		"an SSH server":  {workstation.Target{}, conversation{"S SSH-2.0-OpenSSH_9.2\r\n"}, "workstation_failed", nonsense},
		"no pixels": {workstation.Target{}, join(desktopNone, conversation{"C \x01", "S " + strings.Repeat("\x00", 24)}),
			"workstation_failed", nonsense},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(t, options{target: c.target, desktop: c.desktop})
				begun := time.Now()
				g.converse(append(tlsFirst(g.issue(workstation.Options{})+"."+domain), refusal(c.text)))
				if r := g.wantRecord(c.code, ""); r.Status != 502 || g.dials != 1 {
					t.Errorf("status %d, %d dials", r.Status, g.dials)
				}
				if took, step := time.Since(begun), 10*time.Second; c.code == "workstation_timeout" && took != step {
					t.Errorf("it took %v", took)
				}
				if c.code == "workstation_timeout" {
					time.Sleep(time.Hour) // the workstation's end
				}
			})
		})
	}
}

func TestAWorkstationThatCannotBeDialledIsReported(t *testing.T) {
	for name, wrapped := range map[string]bool{"a cause": true, "no cause": false} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{})
			cause := errors.New("connection refused")
			var err error = cause
			if wrapped {
				err = &net.OpError{Op: "dial", Err: cause}
			}
			b := backend{g.service, func(context.Context, *workstation.Pass) (net.Conn, error) { return nil, err }, time.Second}
			desktop, code, got := b.connect(t.Context(), g.find(g.issue(workstation.Options{})))
			if desktop != nil || code != "workstation_unreachable" || got != cause {
				t.Errorf("%s: %v, %v, %v", name, desktop, code, got)
			}
		})
	}
}

// find returns the pass of a token.
func (g *fakeGateway) find(token string) *workstation.Pass {
	g.t.Helper()
	pass, err := g.service.Find(token, netip.MustParseAddr("192.0.2.1"))
	if err != nil {
		g.t.Fatal(err)
	}
	return pass
}

// Xvnc shuts out an address that fails five times: after a wrong password the workstation is not
// asked again for half a minute.
func TestAFailedLoginIsNotRepeatedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{target: workstation.Target{Password: "hunter2"}, desktop: conversation{
			greets, says38, "S \x01\x02", "C \x02", "S 0123456789abcdef", "W 1s", refusal("no"),
		}})
		pass := g.find(g.issue(workstation.Options{}))
		b := backend{g.service, g.dial, 10 * time.Second}
		try := func() (dials int) {
			before := g.dials
			desktop, code, err := b.connect(t.Context(), pass)
			if desktop != nil || code == "" || err == nil {
				t.Errorf("%v, %q, %v", desktop, code, err)
			}
			return g.dials - before
		}
		if n := try() + try() + try(); n != 1 {
			t.Errorf("%d logins", n)
		}
		time.Sleep(time.Minute)
		if n := try(); n != 1 {
			t.Errorf("%d logins a minute later", n)
		}
	})
}

// Many viewers may connect while the first login is under way. They wait one step at most.
func TestAViewerWaitsForTheLoginOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{desktop: conversation{"W 1h"}})
		pass := g.find(g.issue(workstation.Options{}))
		first := make(chan struct{})
		go func() {
			defer close(first)
			_, _, _ = backend{g.service, g.dial, 30 * time.Second}.connect(t.Context(), pass)
		}()
		synctest.Wait()
		begun := time.Now()
		_, code, err := backend{g.service, g.dial, 5 * time.Second}.connect(t.Context(), pass)
		if took := time.Since(begun); code != "workstation_timeout" || err == nil || took != 5*time.Second || g.dials != 1 {
			t.Errorf("%q, %v after %v, %d dials", code, err, took, g.dials)
		}
		<-first
		time.Sleep(time.Hour)
	})
}

// The process ends: what waits for a workstation does not hold it up.
func TestALoginEndsWithTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{desktop: conversation{"W 1h"}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begun := time.Now()
		desktop, code, err := backend{g.service, g.dial, time.Minute}.connect(ctx, g.find(g.issue(workstation.Options{})))
		if took := time.Since(begun); desktop != nil || code == "" || err == nil || took != time.Second {
			t.Errorf("%v, %q, %v after %v", desktop, code, err, took)
		}
		time.Sleep(time.Hour)
	})
}

// stayingOpen is a connection that ends with its peer only.
type stayingOpen struct{ net.Conn }

func (stayingOpen) Close() error { return nil }

func TestALoginThatSucceedsAsTheProcessEndsDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		ctx, cancel := context.WithCancel(t.Context())
		var conn net.Conn
		dial := func(ctx context.Context, pass *workstation.Pass) (_ net.Conn, err error) {
			conn, err = g.dial(ctx, pass)
			cancel()
			return stayingOpen{conn}, err
		}
		desktop, code, err := backend{g.service, dial, time.Minute}.connect(ctx, g.find(g.issue(workstation.Options{})))
		if desktop != nil || code == "" || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %q, %v", desktop, code, err)
		}
		_ = conn.Close()
	})
}

func TestEveryStepOfADialIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		dial := func(ctx context.Context, _ *workstation.Pass) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		begun := time.Now()
		_, code, err := backend{g.service, dial, 3 * time.Second}.connect(t.Context(), g.find(g.issue(workstation.Options{})))
		if took := time.Since(begun); code != "workstation_unreachable" || err == nil || took != 3*time.Second {
			t.Errorf("%q, %v after %v", code, err, took)
		}
	})
}

func TestTheLoginOfTheTargetIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		response, _ := rfb.RespondVNC([16]byte([]byte("0123456789abcdef")), "hunter2")
		for name, c := range map[string]struct {
			target  workstation.Target
			desktop conversation
		}{
			"a password": {workstation.Target{Password: "hunter2"},
				conversation{greets, says38, "S \x02\x01\x02", "C \x02", "S 0123456789abcdef", "C " + string(response[:]), accepted}},
			"a user inside TLS": {workstation.Target{User: "ann", Password: "hunter2", TLS: &tls.Config{RootCAs: roots(), ServerName: "desk." + domain}},
				conversation{greets, says38, "S \x02\x01\x13", "C \x13", "S \x00\x02", "C \x00\x02", "S \x00\x01\x00\x00\x01\x06", "C \x00\x00\x01\x06", "S \x01", "T ",
					"C \x00\x00\x00\x03\x00\x00\x00\x07annhunter2", accepted}},
		} {
			g := newGateway(t, options{target: c.target, desktop: join(c.desktop, desktopInit)})
			desktop, code, err := backend{g.service, g.dial, time.Second}.connect(t.Context(), g.find(g.issue(workstation.Options{})))
			if err != nil || code != "" || desktop.Init.Name != "one" {
				t.Errorf("%s: %v, %q, %v", name, desktop, code, err)
				continue
			}
			_ = desktop.Conn.Close()
		}
	})
}

// The built-in desktop is for trying out: where others can reach it, the operator is warned.
func TestTheTestCardIsADesktop(t *testing.T) {
	for local, warnings := range map[string]int{"127.0.0.1:5900": 0, "192.0.2.100:5900": 1} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{target: workstation.Target{TestCard: true}})
			g.handler.settings.dial = dialWorkstation
			socket, viewer := net.Pipe()
			done := g.handle(wrapped(connection{socket, tcpAddr(local), tcpAddr(viewerAddress)}))
			join(tlsFirst(g.issue(workstation.Options{})+"."+domain), conversation{accepted, "C \x00", "S \x05\x00\x02\xd0", "X "}).playToEnd(t, viewer)
			<-done
			g.wantRecord("", "viewer_left")
			if g.demos != warnings {
				t.Errorf("%s: %d warnings", local, g.demos)
			}
		})
	}
}

func TestADialKeepsToTheRulesOfTheTarget(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	conn, err := dialWorkstation(t.Context(), &workstation.Pass{Target: &workstation.Target{Address: listener.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	_ = listener.Close()
	if _, err := dialWorkstation(t.Context(), &workstation.Pass{Target: &workstation.Target{Address: listener.Addr().String()}}); !errors.Is(err, workstation.ErrUnreachable) {
		t.Errorf("a closed port: %v", err)
	}
	for address, own := range map[string]bool{"127.0.0.1:5900": true, "192.0.2.1:5900": false} {
		if ownAddress(netip.MustParseAddrPort(address)) != own {
			t.Errorf("%s is this machine's: %v", address, !own)
		}
	}
}
