package l4vnc

import (
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// Records of a TLS connection begin with their type (RFC 8446, 5.1).
const tlsHandshakeRecord = 0x16

// opening is how a viewer's connection begins.
type opening struct {
	conn       net.Conn
	tlsFirst   bool   // TLS comes before RFB
	terminated bool   // that TLS ends at an earlier handler
	serverName string // of that TLS, once it is done
}

var errNotVNC = errors.New("the first byte is neither TLS nor silence")

// detectOpening finds out how a viewer begins: with TLS, or silent for wait, which means that it
// waits for the greeting. A negative wait means that no viewer begins with TLS. The error is an
// *rfb.Error: the connection ended, or its client speaks another protocol.
func detectOpening(conn net.Conn, wait time.Duration) (opening, error) {
	if wait < 0 {
		return opening{conn: conn}, nil
	}
	_ = conn.SetReadDeadline(time.Now().Add(wait)) // a dead connection fails the read
	first := make([]byte, 1)
	_, err := io.ReadFull(conn, first)
	_ = conn.SetReadDeadline(time.Time{})
	const step = "reading the first byte"
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return opening{conn: conn}, nil
	case err != nil:
		return opening{}, &rfb.Error{Kind: rfb.KindGone, Step: step, Err: err}
	case first[0] == tlsHandshakeRecord:
		return opening{conn: rfb.Replay(conn, first), tlsFirst: true}, nil
	case first[0] >= 'A' && first[0] <= 'Z' && first[0] != 'R': // RFB begins with an R
		return opening{}, &rfb.Error{Kind: rfb.KindHTTP, Step: step, Err: errNotVNC}
	}
	return opening{}, &rfb.Error{Kind: rfb.KindGarbage, Step: step, Err: errNotVNC}
}

// detect reports whether the client of conn is a viewer. Otherwise it ends the connection; a client
// that speaks HTTP gets an answer that its user can read.
func (h *handshake) detect(conn net.Conn) bool {
	var err error
	if h.opening, err = detectOpening(conn, h.tlsFirstWait); err == nil {
		return true
	}
	h.broken(err)
	if rfb.KindOf(err) == rfb.KindHTTP {
		_ = conn.SetWriteDeadline(time.Now().Add(h.times.Step))
		_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"+
			"This port speaks VNC. Start a VNC viewer with this address.\n") // the client may be gone
	}
	closeGracefully(conn, refusalLinger, false)
	return false
}
