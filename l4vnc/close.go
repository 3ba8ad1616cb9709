package l4vnc

import (
	"net"
	"time"

	"github.com/mholt/caddy-l4/layer4"

	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
)

const (
	// refusalLinger bounds the clean end of a connection without a session. It is longer than a
	// viewer needs to read a reason.
	refusalLinger = time.Second
	// sessionLinger bounds that of a session: a slow network may have to carry what was sent
	// before.
	sessionLinger = 10 * time.Second
)

// maxDrained bounds how much a viewer can make us discard, in bytes.
const maxDrained = 4 << 20

// closeGracefully ends a connection so that the peer sees an end and no reset. A socket that is
// closed with bytes unread resets, and a reason that is still on its way is lost with it. The
// connection is closed for good once the peer has ended it too, or after linger, also if others
// change its deadlines. torn means that a TLS record was cut in two: only the FIN can follow that.
func closeGracefully(conn net.Conn, linger time.Duration, torn bool) {
	lowest := transport(conn)
	limit := closeAfter(lowest, linger)
	defer limit.Stop()
	vncrelay.HalfClose(conn, torn, under)
	vncrelay.Discard(lowest, maxDrained)
}

func closeAfter(conn net.Conn, linger time.Duration) *time.Timer {
	return time.AfterFunc(linger, func() { _ = conn.Close() })
}

// abort closes the connection of a viewer that is gone, and discards what was sent to it.
func abort(conn net.Conn) {
	lowest := transport(conn)
	if tcp, ok := lowest.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it is closed in any case
	}
	_ = lowest.Close()
}

// under is the connection below another, nil below the last.
func under(conn net.Conn) net.Conn {
	if cx, ok := conn.(*layer4.Connection); ok {
		return cx.Conn
	}
	return vncrelay.Under(conn)
}

// transport is the lowest connection of all: the socket.
func transport(conn net.Conn) net.Conn {
	for below := under(conn); below != nil; below = under(conn) {
		conn = below
	}
	return conn
}

// viewer is the connection of a native viewer with an open session.
type viewer struct{ net.Conn }

// Socket implements [vncrelay.Viewer].
func (v viewer) Socket() net.Conn { return transport(v.Conn) }

// HangUp implements [vncrelay.Viewer].
func (v viewer) HangUp(end vncrelay.End) {
	if end.Gone {
		abort(v.Conn)
	} else {
		vncrelay.HalfClose(v.Conn, end.Torn, under)
	}
}

// Drain implements [vncrelay.Viewer].
func (v viewer) Drain() {
	lowest := transport(v.Conn)
	limit := closeAfter(lowest, sessionLinger)
	defer limit.Stop()
	vncrelay.Discard(lowest, maxDrained)
}
