package vncsocket

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
)

// The whole dialogue, byte by byte, and what is left of it.
func TestABrowserGetsItsDesktop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{}, nil)
		b := f.desktop()
		<-f.returned
		views, err := f.Service.Sessions("default", "one")
		if err != nil || len(views) != 1 || views[0].Security != "browser" || views[0].Viewer.String() != viewerAddress {
			t.Errorf("%+v, %v", views, err)
		}
		if n := f.Limiter.Pending(); n != 0 {
			t.Errorf("%d are half open", n)
		}
		_ = b.ws.Close(websocket.StatusNormalClosure, "")
		<-f.Left
		if r := f.WantRecord("", "viewer_left"); r.BytesUp != int64(len(pointer)) || r.BytesDown != int64(len(pointer)) || r.Key != "dev" {
			t.Errorf("%+v", r)
		}
		f.WantRefused()
	})
}

// The old configuration's server stops, and the session goes on: it belongs to neither.
func TestASessionOutlivesTheServerThatBeganIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{}, nil)
		b := f.desktop()
		<-f.returned
		if err := f.server.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		b.play(conversation{"C " + pointer, "S " + pointer})
		release(f)
		b.wantClose(CodeReleased, "The workstation was released.")
		<-f.Left
		f.WantRecord("", "released")
	})
}

func release(f *fixture) {
	f.T.Helper()
	if err := f.Service.Release(context.Background(), "default", "one", desktop.Releaser{}); err != nil {
		f.T.Error(err)
	}
}

// An hour without a key, behind a proxy that cuts after a minute: pings keep it open. The browser's
// library answers them while it reads.
func TestALongSilenceKeepsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{}, nil)
		b := f.desktop()
		echoed := make(chan error, 1)
		go func() {
			_, err := conversation{"S " + pointer}.Play(b, 'C')
			echoed <- err
		}()
		time.Sleep(time.Hour)
		b.play(conversation{"C " + pointer})
		if err := <-echoed; err != nil {
			t.Error(err)
		}
	})
}

// The built-in desktop, as the demo shows it.
func TestABrowserGetsTheTestCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{Target: desktop.Target{TestCard: testcard.Serve}}, func(o *Options) { o.Dial = nil })
		b := f.show(f.Issue(desktop.Options{}))
		b.play(vncrelaytest.Join(chosen, conversation{accepted, "C \x01", "S \x05\x00\x02\xd0"}))
		if f.Marks().Demos != 0 {
			t.Error("a warning on loopback")
		}
		b.leave()
		<-f.Left
		f.WantRecord("", "viewer_left")
	})
}

// A browser takes what comes, so updates are asked for, by itself or by the gateway, at 60 a second at most.
func TestTheFilterHasThePolicyOfTheConfiguration(t *testing.T) {
	const encodings = "\x02\x00\x00\x02\xff\xff\xfe\xc7\x00\x00\x00\x00" // ContinuousUpdates and Raw
	const enable = "\x96\x01\x00\x00\x00\x00\x04\x00\x03\x00"
	const size = "\xfb\x00\x04\x00\x03\x00\x01\x00" + "\x00\x00\x00\x01\x00\x00\x00\x00\x04\x00\x03\x00\x00\x00\x00\x00"
	const request = vncrelaytest.Request
	viewOnly := true
	for name, c := range map[string]struct {
		policy       desktop.Policy
		token        desktop.Options
		said, goesOn string
	}{
		"continuous updates":      {said: encodings + enable + pointer, goesOn: encodings + pointer}, // not announced
		"60 a second":             {said: request + request + request + pointer, goesOn: request + pointer + request},
		"as many as configured":   {policy: desktop.Policy{Session: desktop.SessionRules{FPS: 1}}, said: request + request + pointer, goesOn: request + pointer},
		"a fixed size":            {policy: desktop.Policy{FixedSize: true}, said: size + pointer, goesOn: pointer},
		"keys of a view-only one": {token: desktop.Options{ViewOnly: &viewOnly}, said: pointer + request, goesOn: request},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, options{Policy: c.policy}, nil)
				b := f.show(f.Issue(c.token))
				b.play(vncrelaytest.Join(chosen, conversation{accepted, "C \x01", initOne, "C " + c.said, "S " + c.goesOn}))
			})
		})
	}
}

// Each piece of the workstation's is a message, which noVNC gets whole, and none is longer than 32 KiB.
func TestALargePictureComesInMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		picture := strings.Repeat("picture ", 20<<10)
		f := newFixture(t, options{Desktop: vncrelaytest.Join(vncrelaytest.DesktopNone, vncrelaytest.DesktopInit, conversation{"S " + picture})}, nil)
		b := f.show(f.Issue(desktop.Options{}))
		b.ws.SetReadLimit(32 << 10)
		b.play(vncrelaytest.Join(chosen, conversation{accepted, "C \x01", initOne, "S " + picture}))
	})
}

var _ vncrelay.Gateway = (*vncrelaytest.Gateway)(nil)
