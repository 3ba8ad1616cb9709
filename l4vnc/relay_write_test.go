package l4vnc

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
)

// notedViewer is a viewer, and how its session ended.
type notedViewer struct {
	viewer
	end vncrelay.End
}

func (n *notedViewer) HangUp(end vncrelay.End) {
	n.end = end
	n.viewer.HangUp(end)
}

// relayTo opens a session whose viewer is conn, and whose workstation is the returned end of a
// pipe.
func (g *fakeGateway) relayTo(conn net.Conn) (r *vncrelay.Relay, noted *notedViewer, backend net.Conn) {
	g.T.Helper()
	session, err := g.Open(g.Find(g.Issue(desktop.Options{})), netip.MustParseAddrPort(viewerAddress), "X509None")
	if err == nil {
		err = session.Join()
	}
	if err != nil {
		g.T.Fatal(err)
	}
	ours, backend := net.Pipe()
	noted = &notedViewer{viewer: viewer{conn}}
	return vncrelay.New(session, noted, &rfb.Desktop{Conn: ours}, g.Service.Policy()), noted, backend
}

// A write that is under way when the session is released has a moment to end. Where it is cut, no
// close_notify follows.
func TestAReleaseCutsAStuckWriteAfterAMoment(t *testing.T) {
	for _, reads := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{})
			socket, theirs := net.Pipe()
			ours, viewer := secured(t, socket, theirs)
			r, noted, backend := g.relayTo(ours)
			done := make(chan struct{})
			go func() { defer close(done); r.Run() }()
			picture := bytes.Repeat([]byte("x"), 1000)
			if _, err := backend.Write(picture); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the write to the viewer is under way
			begun := time.Now()
			if err := g.Service.Release(t.Context(), "default", "one", desktop.Releaser{}); err != nil {
				t.Fatal(err)
			}
			if reads {
				got, err := io.ReadAll(viewer)
				if err != nil || !bytes.Equal(got, picture) || time.Since(begun) != 0 {
					t.Errorf("%d bytes and %v after %v", len(got), err, time.Since(begun))
				}
				_ = viewer.Close()
				<-done
			} else {
				_ = theirs.SetReadDeadline(begun.Add(time.Hour))
				<-done
				if took := time.Since(begun); took != 300*time.Millisecond+10*time.Second {
					t.Errorf("it took %v", took)
				}
			}
			if g.WantRecord("", "released"); noted.end.Torn == reads {
				t.Errorf("the viewer reads: %v; torn: %v", reads, noted.end.Torn)
			}
		})
	}
}

// A viewer may end its direction and still read.
func TestAViewerThatHalfClosesGetsWhatWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		socket, theirs := net.Pipe()
		ours, viewer := secured(t, socket, theirs)
		r, _, backend := g.relayTo(ours)
		done := make(chan struct{})
		go func() { defer close(done); r.Run() }()
		picture := bytes.Repeat([]byte("x"), 1000)
		if _, err := backend.Write(picture); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the write to the viewer is under way
		if err := viewer.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if got, err := io.ReadAll(viewer); err != nil || !bytes.Equal(got, picture) {
			t.Errorf("%d bytes and %v", len(got), err)
		}
		_ = viewer.Close()
		<-done
		g.WantRecord("", "viewer_left")
	})
}
