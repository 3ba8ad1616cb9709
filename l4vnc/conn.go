package l4vnc

import (
	"crypto/tls"
	"io"
	"net"
	"time"

	"github.com/mholt/caddy-l4/layer4"
)

// bare is the connection that caddy-l4 handed over, without its wrapper unless
// that still holds bytes: the wrapper hides CloseWrite and the system's own
// readiness, and costs a copy of each counter.
func bare(cx *layer4.Connection) net.Conn {
	if len(cx.MatchingBytes()) == 0 {
		return cx.Conn
	}
	return cx
}

const (
	// lastWords bounds the clean end of a connection that came to nothing:
	// longer than a viewer needs to read a reason.
	lastWords = time.Second
	// farewell bounds that of a session: a slow line may have to carry what
	// was sent before the end.
	farewell = 10 * time.Second
)

// maxDrained bounds what a peer can make us discard, in bytes.
const maxDrained = 4 << 20

// hangUp ends a connection so that the peer sees an end and no reset: a socket
// that is closed with bytes unread resets, and the last words, on their way
// still, are lost with it. It is closed for good when the peer has ended it too,
// or after patience, whatever others do with its deadlines. A torn connection
// has a TLS record cut in two: nothing can follow that but the FIN.
func hangUp(conn net.Conn, patience time.Duration, torn bool) {
	lowest := transport(conn)
	limit := time.AfterFunc(patience, func() { _ = lowest.Close() })
	defer limit.Stop()
	halfClose(conn, torn)
	_ = lowest.SetReadDeadline(time.Time{})
	_, _ = io.CopyN(io.Discard, lowest, maxDrained) // whatever it is, nobody wants it
	_ = lowest.Close()
}

// under is the connection below another, nil below the last.
func under(conn net.Conn) net.Conn {
	switch c := conn.(type) {
	case *layer4.Connection:
		return c.Conn
	case interface{ NetConn() net.Conn }: // tls.Conn among them
		return c.NetConn()
	case interface{ Raw() net.Conn }: // of the PROXY protocol
		return c.Raw()
	}
	return nil
}

// transport is the lowest connection of all: the socket.
func transport(conn net.Conn) net.Conn {
	for below := under(conn); below != nil; below = under(conn) {
		conn = below
	}
	return conn
}

// halfClose says that nothing more comes: close_notify inside TLS, then FIN.
func halfClose(conn net.Conn, torn bool) {
	for ; conn != nil; conn = under(conn) {
		if secure, ok := conn.(*tls.Conn); ok {
			if !torn {
				_ = secure.CloseWrite() // fails when the handshake did not end
			}
			continue
		}
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // the peer may be gone
		}
	}
}

// tuneTCP has the system find out soon whether a peer is there: within half a
// minute where nothing is on its way to it, and by what is sent again at most
// retransmitMax apart where something is.
func tuneTCP(conn net.Conn) {
	if tcp, ok := transport(conn).(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3})
		limitRetransmit(tcp)
	}
}
