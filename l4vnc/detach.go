package l4vnc

import (
	"net"

	"github.com/mholt/caddy-l4/layer4"
)

// detach takes a viewer's socket over from caddy-l4, by a descriptor of its own, so that a session
// can outlive Handle: caddy-l4's goroutine, buffer and tables are as much memory as the session. It
// returns nil where the handler must keep the connection: it is no bare TCP connection, or the
// system cannot copy descriptors.
func detach(cx *layer4.Connection) net.Conn {
	tcp, ok := bare(cx).(*net.TCPConn)
	if !ok {
		return nil
	}
	file, err := tcp.File()
	if err != nil {
		return nil
	}
	own, err := net.FileConn(file)
	_ = file.Close() // own has a descriptor by itself
	if err != nil {
		return nil
	}
	_ = tcp.Close() // caddy-l4 closes it again
	return own
}

// bare is a connection without caddy-l4's wrapper, unless that still holds bytes: the wrapper hides
// CloseWrite and the system's own readiness, and costs a copy of each counter.
func bare(conn net.Conn) net.Conn {
	if cx, ok := conn.(*layer4.Connection); ok && len(cx.MatchingBytes()) == 0 {
		return cx.Conn
	}
	return conn
}
