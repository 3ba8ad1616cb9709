package vncrelay

import (
	"io"
	"net"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

// A server that does not expect a reset is killed by it while it sends: wayvnc 0.5 is.
func TestAWorkstationThatSendsAtTheEndGetsNoReset(t *testing.T) {
	for name, end := range map[string]func(r *Relay, viewer net.Conn){
		"the viewer leaves":           func(_ *Relay, viewer net.Conn) { _ = viewer.Close() },
		"the workstation is released": func(r *Relay, _ net.Conn) { r.Session.Live.End(desktop.ReasonReleased) },
	} {
		t.Run(name, func(t *testing.T) {
			g := vncrelaytest.New(t, options{})
			ours, theirs := loopback(t)
			workstationsEnd, backend := loopback(t)
			r := relayTo(g, &viewer{Conn: ours}, workstationsEnd)
			done, sent := make(chan struct{}), make(chan error, 1)
			go func() { defer close(done); r.Run() }()
			go func() { sent <- vncrelaytest.Bells(backend) }()
			if _, err := io.ReadFull(theirs, make([]byte, smallSize)); err != nil {
				t.Fatal(err)
			}
			end(r, theirs)
			if err := <-sent; err != nil {
				t.Error(err)
			}
			<-done
		})
	}
}
