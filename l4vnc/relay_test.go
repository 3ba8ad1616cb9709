package l4vnc

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mholt/caddy-l4/layer4"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func wrapped(conn net.Conn) *layer4.Connection { return layer4.WrapConnection(conn, nil, zap.NewNop()) }

// openViewer is a viewer with an open session, inside TLS.
func (g *fakeGateway) openViewer(token string) (viewer net.Conn, done <-chan struct{}) {
	g.T.Helper()
	conn, done := g.connect()
	viewer, err := join(tlsFirst(token+"."+domain), opened).Play(conn, 'C')
	if err != nil {
		g.T.Fatal(err)
	}
	return viewer, done
}

// At every end of a session the viewer sees a clean end inside TLS, and the record has the reason.
func TestASessionEndsCleanlyAndForItsReason(t *testing.T) {
	for reason, c := range map[string]struct {
		policy desktop.Policy
		end    func(g *fakeGateway, id string) // returns when the reason is given
		after  time.Duration
	}{
		"released": {end: func(g *fakeGateway, _ string) {
			if err := g.Service.Release(g.T.Context(), "default", "one", desktop.Releaser{}); err != nil {
				g.T.Error(err)
			}
		}},
		"ended": {end: func(g *fakeGateway, id string) {
			if err := g.Service.EndSession("default", "one", id, ""); err != nil {
				g.T.Error(err)
			}
		}},
		"replaced": {policy: desktop.Policy{OnConflict: desktop.Replace}, end: func(g *fakeGateway, _ string) {
			g.JoinAs(g.Issue(desktop.Options{}), "192.0.2.9:1").Leave()
		}},
		"idle_timeout": {policy: desktop.Policy{Session: desktop.SessionRules{IdleTimeout: time.Minute}}, after: time.Minute, end: func(*fakeGateway, string) {}},
		"max_duration": {policy: desktop.Policy{MaxDuration: time.Hour, Session: desktop.SessionRules{IdleTimeout: 2 * time.Hour}}, after: time.Hour, end: func(*fakeGateway, string) {}},
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(t, options{Policy: c.policy})
				begun := time.Now()
				viewer, done := g.openViewer(g.Issue(desktop.Options{}))
				views, err := g.Service.Sessions("default", "one")
				if err != nil || len(views) != 1 {
					t.Fatal(views, err)
				}
				c.end(g, views[0].ID)
				if rest, err := readToEnd(viewer); err != nil || len(rest) > 0 {
					t.Errorf("the viewer reads %q, %v", rest, err)
				}
				if took := time.Since(begun); took != c.after {
					t.Errorf("it ended after %v, want %v", took, c.after)
				}
				_ = viewer.Close()
				<-done
				r := g.WantRecord("", reason)
				if r.BytesUp != int64(len(pointer)) || r.BytesDown != int64(len(pointer)) || r.Status != 200 || r.ID != views[0].ID {
					t.Errorf("record %+v", r)
				}
			})
		})
	}
}

func TestASessionEndsWithEitherSide(t *testing.T) {
	// A viewer that closes its window ends its direction inside TLS, and reads the end.
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		viewer, done := g.openViewer(g.Issue(desktop.Options{}))
		if err := viewer.(*tls.Conn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		conversation{"E "}.PlayToEnd(t, viewer)
		<-done
		g.WantRecord("", "viewer_left")
	})
	// A viewer that crashes.
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		viewer, done := g.openViewer(g.Issue(desktop.Options{}))
		_ = viewer.(*tls.Conn).NetConn().Close()
		<-done
		g.WantRecord("", "viewer_left")
	})
	// A workstation that leaves.
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		var backend net.Conn
		dial := g.handler.settings.dial
		g.handler.settings.dial = func(ctx context.Context, pass *desktop.Pass) (net.Conn, error) {
			conn, err := dial(ctx, pass)
			backend = conn
			return conn, err
		}
		viewer, done := g.openViewer(g.Issue(desktop.Options{}))
		_ = backend.Close()
		conversation{"E "}.PlayToEnd(t, viewer)
		<-done
		g.WantRecord("", "workstation_left")
	})
	// A viewer that speaks nonsense.
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		viewer, done := g.openViewer(g.Issue(desktop.Options{}))
		conversation{"C \x4d", "E "}.PlayToEnd(t, viewer)
		<-done
		g.WantRecord("message", "protocol_error")
	})
}

func TestKeysOfAViewOnlySessionAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{Policy: desktop.Policy{Session: desktop.SessionRules{IdleTimeout: time.Minute}}})
		viewOnly := true
		conn, done := g.connect()
		viewer, err := join(tlsFirst(g.Issue(desktop.Options{ViewOnly: &viewOnly})+"."+domain),
			conversation{accepted, "C \x00", initOne, "W 40s", "C " + pointer + request, "S " + request}).Play(conn, 'C')
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		conversation{"E "}.PlayToEnd(t, viewer)
		if took := time.Since(begun); took != time.Minute { // it was input all the same
			t.Errorf("idle after %v", took)
		}
		<-done
		g.WantRecord("", "idle_timeout")
	})
}

// The policy decides what a viewer may ask for: here no change of size and no clipboard.
func TestTheFilterHasThePolicyOfTheConfiguration(t *testing.T) {
	const size = "\xfb\x00\x04\x00\x03\x00\x01\x00" + "\x00\x00\x00\x01\x00\x00\x00\x00\x04\x00\x03\x00\x00\x00\x00\x00"
	const clipboard = "\x06\x00\x00\x00\x00\x00\x00\x02hi"
	const rawThenTight = "\x02\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x07"
	const tightThenRaw = "\x02\x00\x00\x02\x00\x00\x00\x07\x00\x00\x00\x00"
	for name, c := range map[string]struct {
		policy       desktop.Policy
		said, goesOn string
	}{
		"all":          {desktop.Policy{}, size + clipboard, size + clipboard},
		"a fixed size": {desktop.Policy{FixedSize: true}, size + clipboard, clipboard},
		"no clipboard": {desktop.Policy{Session: desktop.SessionRules{NoClipboardIn: true}}, size + clipboard, size},
		"5 a second":   {desktop.Policy{Session: desktop.SessionRules{FPS: 5}}, request + request + pointer, request + pointer},
		"Tight":        {desktop.Policy{}, rawThenTight, tightThenRaw},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{Policy: c.policy})
			viewer, done := g.openViewer(g.Issue(desktop.Options{}))
			if _, err := (conversation{"C " + c.said, "S " + c.goesOn}).Play(viewer, 'C'); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			_ = viewer.Close()
			<-done
		})
	}
}

// A viewer that is accepted and sends nothing more is closed soon after a release.
func TestAReleaseEndsAViewerThatHasNotAskedForTheDesktop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		conn, done := g.connect()
		viewer, err := append(tlsFirst(g.Issue(desktop.Options{})+"."+domain), accepted).Play(conn, 'C')
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if err := g.Service.Release(t.Context(), "default", "one", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		conversation{"E "}.PlayToEnd(t, viewer)
		<-done
		if took := time.Since(begun); took > refusalLinger {
			t.Errorf("it took %v", took)
		}
		g.WantRecord("", "released")
	})
}

func TestAViewerThatLeavesBeforeTheDesktopLeavesARecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		socket, viewer := net.Pipe()
		cx := wrapped(connection{socket, tcpAddr("127.0.0.1:5900"), tcpAddr(viewerAddress)})
		done := g.handle(cx)
		append(tlsFirst(g.Issue(desktop.Options{})+"."+domain), accepted, "X ").PlayToEnd(t, viewer)
		<-done
		g.WantRecord("", "viewer_left")
		if id, set := cx.Replacer().Get("l4.gatehouse.session"); set {
			t.Errorf("it is a session: %v", id)
		}
	})
}
