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

// replayed is a connection whose first bytes have been read already.
type replayed struct {
	net.Conn
	first []byte
}

func (c *replayed) Read(p []byte) (int, error) {
	if len(c.first) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.first)
	c.first = c.first[n:]
	return n, nil
}

// lastWords bounds the clean end of a connection. Longer than a viewer needs to
// read a reason, shorter than a release may take.
const lastWords = 900 * time.Millisecond

// maxDrained bounds what a peer can make us discard, in bytes.
const maxDrained = 4 << 20

// hangUp ends a connection so that the peer sees an end and no reset: a socket
// that is closed with bytes unread resets, and the last words, on their way
// still, are lost with it.
func hangUp(conn net.Conn) {
	transport := halfClose(conn)
	_ = transport.SetReadDeadline(time.Now().Add(lastWords)) // else the peer's own end is waited for
	_, _ = io.CopyN(io.Discard, transport, maxDrained)       // whatever it is, nobody wants it
	_ = transport.Close()
}

// halfClose says that nothing more comes, close_notify inside TLS and then FIN,
// and returns the connection below all.
func halfClose(conn net.Conn) net.Conn {
	for {
		switch c := conn.(type) {
		case *tls.Conn:
			_ = c.CloseWrite() // fails when the handshake did not end
			conn = c.NetConn()
		case *replayed:
			conn = c.Conn
		case *layer4.Connection:
			conn = c.Conn
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		case interface{ CloseWrite() error }:
			_ = c.CloseWrite() // the peer may be gone
			return conn
		default:
			return conn
		}
	}
}

// keepAlive finds out within half a minute that a silent peer is gone.
func keepAlive(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3})
	}
}
