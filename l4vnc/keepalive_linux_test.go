package l4vnc

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A peer that is gone is found in half a minute while nothing is on its way to it.
func TestKeepAliveFindsAPeerThatIsGone(t *testing.T) {
	ours, viewer := loopback(t)
	socket, err := ours.File() // the handler takes the connection over
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	g := newGateway(t, options{})
	g.handler.settings.tlsFirstWait = -1
	done := g.handle(wrapped(ours))
	defer func() { _ = viewer.Close(); <-done }()
	if _, err := (conversation{greets}).Play(viewer, 'C'); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ level, option, want int }{
		"on":       {unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		"idle":     {unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 15},
		"interval": {unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 5},
		"count":    {unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3},
	} {
		if got, err := unix.GetsockoptInt(int(socket.Fd()), c.level, c.option); got != c.want || err != nil {
			t.Errorf("%s: %d, %v; want %d", name, got, err, c.want)
		}
	}
}
