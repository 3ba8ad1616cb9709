package provider

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"

	"golang.org/x/net/http2"
)

// DialFunc is the DialContext of an http.Transport.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// ReadToEnd wraps a transport's dial function, so that an answer wins over an upload that
// fails: a provider may refuse a request before it has read its body, and close. net/http
// returns whichever it sees first, the answer or the failed write, and closes the connection
// for the write. Here the write goes nowhere instead, and what the provider said last is read.
func ReadToEnd(dial DialFunc) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &connection{Conn: conn}, nil
	}
}

// connection ignores that its peer reads no more.
type connection struct {
	net.Conn
	unread atomic.Bool // something that was written goes nowhere
}

// Write fails only where reading would not end as well: after a reset the kernel hands out
// what has arrived, and then the end.
func (c *connection) Write(p []byte) (int, error) {
	if c.unread.Load() {
		return len(p), nil
	}
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		c.unread.Store(true)
		return len(p), nil
	}
	return n, err
}

// progress is how far a request came, as net/http traces it.
type progress struct {
	trace  httptrace.ClientTrace
	conn   net.Conn
	reused bool // conn served an earlier request

	// The following are set on the connection's goroutines.
	written  atomic.Bool // to its end
	answered atomic.Bool // the first byte of an answer is there
}

func (p *progress) watch() {
	p.trace.GotConn = func(info httptrace.GotConnInfo) { p.use(info.Conn, info.Reused) }
	p.trace.WroteRequest = func(info httptrace.WroteRequestInfo) { p.written.Store(info.Err == nil) }
	p.trace.GotFirstResponseByte = func() { p.answered.Store(true) }
}

// use notes that the request goes to a connection, which is not always the first.
func (p *progress) use(conn net.Conn, reused bool) {
	p.conn, p.reused = conn, reused
	p.written.Store(false)
}

// Delivered reports whether a provider can have got the whole request, so that it may have
// worked on it. It is for a request without an answer.
func (p *progress) Delivered() bool {
	if !p.written.Load() {
		return false
	}
	conn := p.conn
	if secure, ok := conn.(*tls.Conn); ok {
		if secure.ConnectionState().NegotiatedProtocol == http2.NextProtoTLS {
			return true // what failed later was another request's
		}
		conn = secure.NetConn()
	}
	c, ok := conn.(*connection)
	return !ok || !c.unread.Load()
}

// stale reports whether err is that of a connection which served an earlier request and ended
// before any byte of an answer: most likely the provider was closing it. A timeout of ours and
// an HTTP/2 stream that was reset leave their connection alive.
func (p *progress) stale(err error) bool {
	var timeout net.Error
	var reset http2.StreamError
	switch {
	case !p.reused || p.answered.Load() || errors.As(err, &reset):
		return false
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.Is(err, syscall.ETIMEDOUT) // the kernel's: nothing was acknowledged
	}
	return true
}

// unprocessed reports whether err says that the provider has not begun with the request.
func unprocessed(err error) bool {
	var reset http2.StreamError
	return errors.As(err, &reset) && reset.Code == http2.ErrCodeRefusedStream // RFC 9113, 8.7
}
