package screen_test

import (
	"context"
	"net"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

// A server that does not expect a reset is killed by it while it sends: wayvnc 0.5 is.
func TestAWorkstationThatSendsAtTheEndGetsNoReset(t *testing.T) {
	l := newLab(t, nil)
	l.real = true
	sent := make(chan error, 1)
	l.server.after = func(conn net.Conn) { sent <- vncrelaytest.Bells(conn) }
	l.screens = screen.New(func(context.Context, *desktop.Pass) (net.Conn, error) {
		ours, its := vncrelaytest.Loopback(t)
		go l.server.serve(its)
		return ours, nil
	})
	x := l.mustOpen()
	x.Session().End(desktop.ReasonReleased)
	x.Release()
	if err := <-sent; err != nil {
		t.Error(err)
	}
	<-l.Left
}
