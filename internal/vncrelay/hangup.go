package vncrelay

import (
	"crypto/tls"
	"io"
	"math"
	"net"
	"time"
)

// hangUpLimit is how long a workstation may take to end its side of a connection after ours has
// ended.
const hangUpLimit = time.Second

// HangUp ends our side of the connection to a workstation. [Drain] follows, within hangUpLimit: a
// server must see an end and no reset. wayvnc 0.5 is killed by SIGPIPE if a connection is reset
// while it sends.
func HangUp(conn net.Conn) {
	lowest := Lowest(conn)
	if _, ok := lowest.(halfCloser); !ok {
		_ = lowest.Close()
		return
	}
	HalfClose(conn, false, Under)
	time.AfterFunc(hangUpLimit, func() { _ = lowest.Close() })
}

type halfCloser interface{ CloseWrite() error }

// HalfClose ends our direction of a connection: close_notify inside TLS, then FIN. Torn means that
// a TLS record was cut in two: only the FIN can follow. Under returns the connection below another.
func HalfClose(conn net.Conn, torn bool, under func(net.Conn) net.Conn) {
	for ; conn != nil; conn = under(conn) {
		if _, secure := conn.(*tls.Conn); secure && torn {
			continue
		}
		if half, ok := conn.(halfCloser); ok {
			_ = half.CloseWrite() // the peer may be gone, or the handshake did not end
		}
	}
}

// Drain discards what a workstation sends after [HangUp] until it ends its side too, and closes the
// connection. A picture has any size: hangUpLimit bounds the time.
func Drain(conn net.Conn) { Discard(Lowest(conn), math.MaxInt64) }

// Discard discards what the peer of a socket still sends, up to its end or so many bytes, and
// closes the socket.
func Discard(socket net.Conn, most int64) {
	_ = socket.SetReadDeadline(time.Time{})
	_, _ = io.CopyN(io.Discard, socket, most)
	_ = socket.Close()
}
