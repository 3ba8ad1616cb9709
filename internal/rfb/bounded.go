package rfb

import (
	"fmt"
	"net"
)

const (
	// maxHandshake bounds, in bytes, what a viewer sends in a TLS handshake: crypto/tls buffers a
	// message of up to 64 KiB from any client. A ClientHello with post-quantum keys has 2 KiB, a
	// client's chain of certificates up to 16.
	maxHandshake = 32 << 10
	// unbounded takes the bound off.
	unbounded = -1
)

var errTooLong = fmt.Errorf("the TLS handshake sent more than %d bytes", maxHandshake)

// bounded is a connection of which only so much can be read.
type bounded struct {
	net.Conn
	left int // bytes that may be read still, or unbounded
}

// Read fails with errTooLong when nothing is left.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left == unbounded {
		return b.Conn.Read(p)
	}
	if b.left == 0 {
		return 0, errTooLong
	}
	n, err := b.Conn.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// NetConn is the connection below.
func (b *bounded) NetConn() net.Conn { return b.Conn }
