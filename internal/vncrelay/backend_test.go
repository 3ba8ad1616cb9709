package vncrelay

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

func TestAWorkstationThatCannotBeDialledIsReported(t *testing.T) {
	for name, wrapped := range map[string]bool{"a cause": true, "no cause": false} {
		synctest.Test(t, func(t *testing.T) {
			g := vncrelaytest.New(t, options{})
			cause := errors.New("connection refused")
			var err error = cause
			if wrapped {
				err = &net.OpError{Op: "dial", Err: cause}
			}
			b := Backend{g.Service, func(context.Context, *desktop.Pass) (net.Conn, error) { return nil, err }, time.Second}
			backend, code, got := b.Connect(t.Context(), g.Find(g.Issue(desktop.Options{})))
			if backend != nil || code != "workstation_unreachable" || got != cause {
				t.Errorf("%s: %v, %v, %v", name, backend, code, got)
			}
		})
	}
}

// Xvnc shuts out an address that fails five times: after a wrong password the workstation is not
// asked again for half a minute.
func TestAFailedLoginIsNotRepeatedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := vncrelaytest.New(t, options{Target: desktop.Target{Password: "hunter2"}, Desktop: conversation{
			greets, says38, "S \x01\x02", "C \x02", "S 0123456789abcdef", "W 1s", refusal("no"),
		}})
		pass := g.Find(g.Issue(desktop.Options{}))
		b := Backend{g.Service, g.Dial, 10 * time.Second}
		try := func() (dials int) {
			before := g.Marks().Dials
			backend, code, err := b.Connect(t.Context(), pass)
			if backend != nil || code == "" || err == nil {
				t.Errorf("%v, %q, %v", backend, code, err)
			}
			return g.Marks().Dials - before
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
		g := vncrelaytest.New(t, options{Desktop: conversation{"W 1h"}})
		pass := g.Find(g.Issue(desktop.Options{}))
		first := make(chan struct{})
		go func() {
			defer close(first)
			_, _, _ = Backend{g.Service, g.Dial, 30 * time.Second}.Connect(t.Context(), pass)
		}()
		synctest.Wait()
		begun := time.Now()
		_, code, err := Backend{g.Service, g.Dial, 5 * time.Second}.Connect(t.Context(), pass)
		if took := time.Since(begun); code != "workstation_timeout" || err == nil || took != 5*time.Second || g.Marks().Dials != 1 {
			t.Errorf("%q, %v after %v, %d dials", code, err, took, g.Marks().Dials)
		}
		<-first
		time.Sleep(time.Hour)
	})
}

// The process ends: what waits for a workstation does not hold it up.
func TestALoginEndsWithTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := vncrelaytest.New(t, options{Desktop: conversation{"W 1h"}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begun := time.Now()
		backend, code, err := Backend{g.Service, g.Dial, time.Minute}.Connect(ctx, g.Find(g.Issue(desktop.Options{})))
		if took := time.Since(begun); backend != nil || code == "" || err == nil || took != time.Second {
			t.Errorf("%v, %q, %v after %v", backend, code, err, took)
		}
		time.Sleep(time.Hour)
	})
}

// stayingOpen is a connection that ends with its peer only.
type stayingOpen struct{ net.Conn }

func (stayingOpen) Close() error { return nil }

func TestALoginThatSucceedsAsTheProcessEndsDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := vncrelaytest.New(t, options{})
		ctx, cancel := context.WithCancel(t.Context())
		var conn net.Conn
		dial := func(ctx context.Context, pass *desktop.Pass) (_ net.Conn, err error) {
			conn, err = g.Dial(ctx, pass)
			cancel()
			return stayingOpen{conn}, err
		}
		backend, code, err := Backend{g.Service, dial, time.Minute}.Connect(ctx, g.Find(g.Issue(desktop.Options{})))
		if backend != nil || code == "" || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %q, %v", backend, code, err)
		}
		_ = conn.Close()
	})
}

func TestEveryStepOfADialIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := vncrelaytest.New(t, options{})
		dial := func(ctx context.Context, _ *desktop.Pass) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		begun := time.Now()
		_, code, err := Backend{g.Service, dial, 3 * time.Second}.Connect(t.Context(), g.Find(g.Issue(desktop.Options{})))
		if took := time.Since(begun); code != "workstation_unreachable" || err == nil || took != 3*time.Second {
			t.Errorf("%q, %v after %v", code, err, took)
		}
	})
}

func TestTheLoginOfTheTargetIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		response, _ := rfb.RespondVNC([16]byte([]byte("0123456789abcdef")), "hunter2")
		for name, c := range map[string]struct {
			target  desktop.Target
			desktop conversation
		}{
			"a password": {desktop.Target{Password: "hunter2"},
				conversation{greets, says38, "S \x02\x01\x02", "C \x02", "S 0123456789abcdef", "C " + string(response[:]), accepted}},
			"a user inside TLS": {desktop.Target{User: "ann", Password: "hunter2", TLS: &tls.Config{RootCAs: roots(), ServerName: "desk." + domain}},
				conversation{greets, says38, "S \x02\x01\x13", "C \x13", "S \x00\x02", "C \x00\x02", "S \x00\x01\x00\x00\x01\x06", "C \x00\x00\x01\x06", "S \x01", "T ",
					"C \x00\x00\x00\x03\x00\x00\x00\x07annhunter2", accepted}},
		} {
			g := vncrelaytest.New(t, options{Target: c.target, Desktop: join(c.desktop, desktopInit)})
			backend, code, err := Backend{g.Service, g.Dial, time.Second}.Connect(t.Context(), g.Find(g.Issue(desktop.Options{})))
			if err != nil || code != "" || backend.Init.Name != "one" {
				t.Errorf("%s: %v, %q, %v", name, backend, code, err)
				continue
			}
			_ = backend.Conn.Close()
		}
	})
}

func TestADialKeepsToTheRulesOfTheTarget(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	conn, err := DialWorkstation(t.Context(), &desktop.Pass{Target: &desktop.Target{Address: listener.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	_ = listener.Close()
	if _, err := DialWorkstation(t.Context(), &desktop.Pass{Target: &desktop.Target{Address: listener.Addr().String()}}); !errors.Is(err, desktop.ErrUnreachable) {
		t.Errorf("a closed port: %v", err)
	}
	for address, own := range map[string]bool{"127.0.0.1:5900": true, "192.0.2.1:5900": false} {
		if ownAddress(netip.MustParseAddrPort(address)) != own {
			t.Errorf("%s is this machine's: %v", address, !own)
		}
	}
}
