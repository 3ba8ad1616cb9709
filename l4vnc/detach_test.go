package l4vnc

import (
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"

	"github.com/mholt/caddy-l4/layer4"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// wrapper is what another layer-4 handler may put around a connection.
type wrapper struct{ net.Conn }

// A session over plain TCP goes on when the handler has returned and caddy-l4 has closed what it
// knows of the connection. What is wrapped is closed by its owner, so there the handler waits.
func TestTheHandlerReturnsWhereTheSessionCanOutliveIt(t *testing.T) {
	for name, c := range map[string]struct {
		wrap    func(net.Conn) *layer4.Connection
		returns bool
	}{
		"plain TCP": {wrapped, true},
		"wrapped":   {func(conn net.Conn) *layer4.Connection { return wrapped(wrapper{conn}) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t, options{})
			ours, socket := loopback(t)
			_ = socket.SetDeadline(time.Now().Add(patient))
			cx := c.wrap(ours)
			done := g.handle(cx)
			viewer, err := join(tlsFirst(g.Issue(desktop.Options{})+"."+domain), opened).Play(socket, 'C')
			if err != nil {
				t.Fatal(err)
			}
			if c.returns {
				<-done
				if session, _ := cx.Replacer().Get("l4.gatehouse.session"); session == "" {
					t.Error("the session is not named when the handler returns")
				}
			}
			_, _ = io.WriteString(viewer, pointer)
			got := make([]byte, len(pointer))
			if _, err := io.ReadFull(viewer, got); err != nil || string(got) != pointer {
				t.Fatalf("the desktop echoed %q, %v", got, err)
			}
			select {
			case <-done:
				if !c.returns {
					t.Error("the handler returned while the session was open")
				}
			default:
			}
			_ = viewer.(*tls.Conn).CloseWrite()
			_ = socket.CloseWrite()
			if rest, err := io.ReadAll(viewer); err != nil || len(rest) > 0 {
				t.Errorf("after its end the viewer read %q, %v; want a clean end", rest, err)
			}
			_ = socket.Close()
			<-g.Left
			<-done
			const carried = 2 * int64(len(pointer)) // opened has one too
			if r := g.WantRecord("", "viewer_left"); r.BytesUp != carried || r.BytesDown != carried {
				t.Errorf("%d bytes up, %d down", r.BytesUp, r.BytesDown)
			}
		})
	}
}

// A viewer that is refused over plain TCP sees the reason and the end: no copy of its socket stays
// open.
func TestARefusalOverTCPClosesTheConnection(t *testing.T) {
	g := newGateway(t, options{})
	ours, socket := loopback(t)
	_ = socket.SetDeadline(time.Now().Add(patient))
	done := g.handle(wrapped(ours))
	viewer, err := tlsFirst("aaaaaaaaaaaaaaaaaaaaaaaaaa."+domain).Play(socket, 'C')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(viewer); err != nil {
		t.Errorf("the viewer's end: %v, want a clean one", err)
	}
	_ = socket.CloseWrite()
	<-done
	if _, err := ours.Write([]byte{0}); err == nil {
		t.Error("the handler left its connection open")
	}
	g.WantRefused("unknown")
}
