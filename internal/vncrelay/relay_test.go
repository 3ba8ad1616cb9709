package vncrelay

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

// relayTo opens a session between viewer and desktop.
func relayTo(g *vncrelaytest.Gateway, viewer Viewer, backend net.Conn) *Relay {
	return ruledRelay(g, viewer, backend, desktop.SessionRules{})
}

// ruledRelay is relayTo for an address that was asked for with rules. Pixels have 32 bits.
func ruledRelay(g *vncrelaytest.Gateway, viewer Viewer, backend net.Conn, rules desktop.SessionRules) *Relay {
	g.T.Helper()
	session, err := g.Open(g.Find(g.Issue(desktop.Options{Rules: rules})), netip.MustParseAddrPort(viewerAddress), "X509None")
	if err == nil {
		err = session.Join()
	}
	shown := rfb.Init{Format: [16]byte{32, 24, 0, 1}}
	if err == nil {
		err = session.Record(shown)
	}
	if err != nil {
		g.T.Fatal(err)
	}
	return New(session, viewer, &rfb.Desktop{Conn: backend, Init: shown}, g.Service.Policy())
}

// A viewer that reads nothing ends its session after two minutes, and one that is slow does not.
func TestAStalledViewerEndsItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := vncrelaytest.New(t, options{})
		ours, theirs := net.Pipe()
		desktopsEnd, backend := net.Pipe()
		r := relayTo(g, &viewer{Conn: ours}, desktopsEnd)
		ended := make(chan time.Duration, 1)
		begun := time.Now()
		go func() { r.Run(); ended <- time.Since(begun) }()
		go func() { _, _ = io.Copy(backend, endless{}) }()
		for range 5 { // slow
			if _, err := io.ReadFull(theirs, make([]byte, smallSize)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(writeStall / 2)
		}
		if took := <-ended - 5*writeStall/2; took > writeStall || took < writeStall/4 {
			t.Errorf("it ended %v after the last byte was read", took)
		}
		g.WantRecord("", "viewer_left")
	})
}

// endless is what a workstation with a film sends.
type endless struct{}

// Over TCP the gateway holds no buffer while a workstation is silent.
func TestASessionOverTCPCarriesBothWaysAndEnds(t *testing.T) {
	g := vncrelaytest.New(t, options{})
	ours, theirs := loopback(t)
	workstationsEnd, backend := loopback(t)
	r := relayTo(g, &viewer{Conn: ours}, workstationsEnd)
	done := make(chan struct{})
	go func() { defer close(done); r.Run() }()
	deadline := time.Now().Add(patient)
	_, _ = theirs.SetDeadline(deadline), backend.SetDeadline(deadline)
	picture := strings.Repeat("picture ", 100<<10)
	_, _ = io.WriteString(backend, picture[:1])
	if n, err := io.ReadFull(theirs, make([]byte, 1)); err != nil {
		t.Fatal(n, err)
	}
	picture = picture[1:]
	go func() { _, _ = io.WriteString(backend, picture) }()
	got := make([]byte, len(picture))
	if _, err := io.ReadFull(theirs, got); err != nil || string(got) != picture {
		t.Fatal("the picture: ", err)
	}
	_, _ = io.WriteString(theirs, pointer)
	if _, err := io.ReadFull(backend, got[:len(pointer)]); err != nil || string(got[:len(pointer)]) != pointer {
		t.Fatal("the pointer: ", err)
	}
	_ = backend.CloseWrite()
	if _, err := theirs.Read(got); !errors.Is(err, io.EOF) {
		t.Error("the viewer's end: ", err)
	}
	_ = theirs.Close()
	<-done
	if r := g.WantRecord("", "workstation_left"); r.BytesDown != int64(1+len(picture)) || r.BytesUp != int64(len(pointer)) {
		t.Errorf("%d bytes up, %d down", r.BytesUp, r.BytesDown)
	}
}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
