package l4vnc

import (
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/mholt/caddy-l4/layer4"
	"github.com/mholt/caddy-l4/modules/l4tls"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// Records of a TLS connection begin with their type (RFC 8446, 5.1).
const tlsHandshakeRecord = 0x16

// detect finds out how the viewer speaks: false when it is gone or speaks
// something else.
func (d *handshake) detect(cx *layer4.Connection) bool {
	tuneTCP(cx)
	if states := l4tls.GetConnectionStates(cx); len(states) > 0 {
		d.conn, d.tlsFirst, d.tlsTerminated, d.name = cx, true, true, states[len(states)-1].ServerName
		return true
	}
	conn := bare(cx)
	d.conn = conn
	if d.TLSFirstWait < 0 {
		return true
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Duration(d.TLSFirstWait))) // of a dead connection the read tells
	first := make([]byte, 1)
	_, err := io.ReadFull(conn, first)
	_ = conn.SetReadDeadline(time.Time{})
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return true // silent: it waits to be greeted
	case err != nil:
		d.broken(rfb.KindGone, err)
		return false
	case first[0] == tlsHandshakeRecord:
		d.conn, d.tlsFirst = rfb.Replay(conn, first), true
		return true
	}
	d.rejectOther(conn, first[0])
	return false
}

// rejectOther is for a client that speaks first and no TLS. One of HTTP gets an answer
// that its user can read.
func (d *handshake) rejectOther(conn net.Conn, first byte) {
	kind := rfb.KindGarbage
	if first >= 'A' && first <= 'Z' && first != 'R' {
		kind = rfb.KindHTTP
		_ = conn.SetWriteDeadline(time.Now().Add(d.times.Step))
		_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"+
			"This port speaks VNC. Start a VNC viewer with this address.\n") // it may be gone
	}
	d.refused(kind.String(), errors.New("the first byte is neither TLS nor silence"))
	hangUp(conn, lastWords, false)
}
