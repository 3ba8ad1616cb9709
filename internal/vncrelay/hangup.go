package vncrelay

import (
	"io"
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
	type halfCloser interface{ CloseWrite() error }
	lowest := Lowest(conn)
	if _, ok := lowest.(halfCloser); !ok {
		_ = lowest.Close()
		return
	}
	for ; conn != nil; conn = Under(conn) { // TLS, then TCP
		if half, ok := conn.(halfCloser); ok {
			_ = half.CloseWrite() // the workstation may be gone
		}
	}
	time.AfterFunc(hangUpLimit, func() { _ = lowest.Close() })
}

// Drain discards what a workstation sends after [HangUp] until it ends its side too, and closes the
// connection.
func Drain(conn net.Conn) {
	lowest := Lowest(conn)
	_ = lowest.SetReadDeadline(time.Time{})
	_, _ = io.Copy(io.Discard, lowest) // until its end, or that of hangUpLimit
	_ = lowest.Close()
}
