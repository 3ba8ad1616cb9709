package l4vnc

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// relayTo opens a session whose viewer is conn, and whose workstation is the returned end of a
// pipe.
func (g *fakeGateway) relayTo(viewer net.Conn) (r *relay, desktop net.Conn) {
	g.t.Helper()
	pass := g.find(g.issue(workstation.Options{}))
	session, err := g.Open(pass, netip.MustParseAddrPort(viewerAddress), "X509None")
	if err == nil {
		err = session.Join()
	}
	if err != nil {
		g.t.Fatal(err)
	}
	ours, desktop := net.Pipe()
	return newRelay(session, viewer, ours, g.service.Policy()), desktop
}

// A viewer that reads nothing ends its session after two minutes, and one that is slow does not.
func TestAStalledViewerEndsItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		ours, viewer := net.Pipe()
		r, desktop := g.relayTo(ours)
		ended := make(chan time.Duration, 1)
		begun := time.Now()
		go func() { r.run(); ended <- time.Since(begun) }()
		go func() { _, _ = io.Copy(desktop, endless{}) }()
		for range 5 { // slow
			if _, err := io.ReadFull(viewer, make([]byte, smallSize)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(writeStall / 2)
		}
		if took := <-ended - 5*writeStall/2; took > writeStall+sessionLinger || took < writeStall/4 {
			t.Errorf("it ended %v after the last byte was read", took)
		}
		g.wantRecord("", "viewer_left")
	})
}

// endless is what a workstation with a film sends.
type endless struct{}

// A write that is under way when the session is released has a moment to end. Where it is cut, no
// close_notify follows.
func TestAReleaseCutsAStuckWriteAfterAMoment(t *testing.T) {
	for _, reads := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{})
			socket, theirs := net.Pipe()
			ours, viewer := secured(t, socket, theirs)
			r, desktop := g.relayTo(ours)
			done := make(chan struct{})
			go func() { defer close(done); r.run() }()
			picture := bytes.Repeat([]byte("x"), 1000)
			if _, err := desktop.Write(picture); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the write to the viewer is under way
			begun := time.Now()
			if err := g.service.Release(t.Context(), "default", "one"); err != nil {
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
			if g.wantRecord("", "released"); r.torn == reads {
				t.Errorf("the viewer reads: %v; torn: %v", reads, r.torn)
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
		r, desktop := g.relayTo(ours)
		done := make(chan struct{})
		go func() { defer close(done); r.run() }()
		picture := bytes.Repeat([]byte("x"), 1000)
		if _, err := desktop.Write(picture); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the write to the viewer is under way
		if err := viewer.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * interruptGrace)
		if got, err := io.ReadAll(viewer); err != nil || !bytes.Equal(got, picture) {
			t.Errorf("%d bytes and %v", len(got), err)
		}
		_ = viewer.Close()
		<-done
		g.wantRecord("", "viewer_left")
	})
}

// Over TCP the gateway holds no buffer while a workstation is silent.
func TestASessionOverTCPCarriesBothWaysAndEnds(t *testing.T) {
	g := newGateway(t, options{})
	ours, viewer := loopback(t)
	workstationsEnd, desktop := loopback(t)
	r, _ := g.relayTo(ours)
	r.up.conn = workstationsEnd
	done := make(chan struct{})
	go func() { defer close(done); r.run() }()
	deadline := time.Now().Add(patient)
	_, _ = viewer.SetDeadline(deadline), desktop.SetDeadline(deadline)
	picture := strings.Repeat("picture ", 100<<10)
	_, _ = io.WriteString(desktop, picture[:1])
	if n, err := io.ReadFull(viewer, make([]byte, 1)); err != nil {
		t.Fatal(n, err)
	}
	picture = picture[1:]
	go func() { _, _ = io.WriteString(desktop, picture) }()
	got := make([]byte, len(picture))
	if _, err := io.ReadFull(viewer, got); err != nil || string(got) != picture {
		t.Fatal("the picture: ", err)
	}
	_, _ = io.WriteString(viewer, pointer)
	if _, err := io.ReadFull(desktop, got[:len(pointer)]); err != nil || string(got[:len(pointer)]) != pointer {
		t.Fatal("the pointer: ", err)
	}
	_ = desktop.CloseWrite()
	if _, err := viewer.Read(got); !errors.Is(err, io.EOF) {
		t.Error("the viewer's end: ", err)
	}
	_ = viewer.Close()
	<-done
	if r := g.wantRecord("", "workstation_left"); r.BytesDown != int64(1+len(picture)) || r.BytesUp != int64(len(pointer)) {
		t.Errorf("%d bytes up, %d down", r.BytesUp, r.BytesDown)
	}
}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
