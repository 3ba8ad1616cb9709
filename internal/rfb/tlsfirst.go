package rfb

import (
	"crypto/tls"
	"net"
	"time"
)

// TLSFirst does the server's side of a TLS handshake that comes before RFB, as wrappers such as
// stunnel do it, within d (0 means [StepTimeout]); TLS 1.2 at least. RFB then goes on inside, with
// type None: the server name was all there is to show. Every error is an [*Error] and names no
// host.
func TLSFirst(conn net.Conn, config *tls.Config, d time.Duration) (inside net.Conn, serverName string, err error) {
	if d <= 0 {
		d = StepTimeout
	}
	w := &wire{conn: conn}
	if serverName, err = w.serveTLS(conn, config, d); err != nil {
		return nil, "", err
	}
	w.rest()
	return w.conn, serverName, nil
}
