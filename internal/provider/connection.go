package provider

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
	"time"

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
	answered atomic.Bool // an answer came on it
	closing  atomic.Bool // its last request is written
	unread   atomic.Bool // something of a request goes nowhere
}

// Write fails only where reading would not end as well: after a reset the kernel hands out
// what has arrived, and then the end.
func (c *connection) Write(p []byte) (int, error) {
	if c.unread.Load() {
		return len(p), nil
	}
	n, err := c.Conn.Write(p)
	if !c.closing.Load() && (errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)) {
		c.unread.Store(true)
		return len(p), nil
	}
	return n, err
}

// SetWriteDeadline is called by tls.Conn before it writes close_notify, and never by
// http.Transport over HTTP/1: what is written from then on belongs to no request.
func (c *connection) SetWriteDeadline(t time.Time) error {
	c.closing.Store(true)
	return c.Conn.SetWriteDeadline(t)
}

// underTLS returns the connection that ReadToEnd made for conn, nil if there is none.
func underTLS(conn net.Conn) *connection {
	for {
		secure, ok := conn.(*tls.Conn)
		if !ok {
			c, _ := conn.(*connection)
			return c
		}
		conn = secure.NetConn()
	}
}

// speaksHTTP2 reports whether a connection over TLS carries several requests at a time.
func speaksHTTP2(conn net.Conn) bool {
	secure, ok := conn.(*tls.Conn)
	return ok && secure.ConnectionState().NegotiatedProtocol == http2.NextProtoTLS
}

// staleTime is how long after a request was written its connection counts as one that the
// provider was closing: enough for a round trip and a lost packet, too little for most work.
const staleTime = time.Second

// attempt is one sending of a request, as net/http traces it.
type attempt struct {
	trace httptrace.ClientTrace
	conn  net.Conn
	kept  bool // conn had answered an earlier request, and carries no other

	// The following are set on the connection's goroutines.
	writtenAt time.Time   // before written
	written   atomic.Bool // to its end
	answered  atomic.Bool // the first byte of an answer is there
}

func newAttempt() *attempt {
	a := new(attempt)
	a.trace.GotConn = a.use
	a.trace.WroteRequest = func(info httptrace.WroteRequestInfo) {
		a.writtenAt = time.Now()
		a.written.Store(info.Err == nil)
	}
	a.trace.GotFirstResponseByte = func() {
		a.answered.Store(true)
		if c := underTLS(a.conn); c != nil {
			c.answered.Store(true)
		}
	}
	return a
}

// use notes the connection that the request goes to. net/http takes another one if nobody can
// have begun with the request. HTTP/2 counts a connection as reused and idle from its second
// request on, even if that one is sent together with the first: so an answer must have come.
// HTTP/1 does not count one as idle that it hands from an answered request to a waiting one.
func (a *attempt) use(info httptrace.GotConnInfo) {
	c := underTLS(info.Conn)
	alone := info.WasIdle || c != nil && !speaksHTTP2(info.Conn)
	a.conn, a.kept = info.Conn, info.Reused && alone && (c == nil || c.answered.Load())
	a.written.Store(false)
}

// delivered reports whether a provider can have got the whole request, so that it may have
// worked on it. It is for a request without an answer.
func (a *attempt) delivered() bool {
	if !a.written.Load() {
		return false
	}
	if speaksHTTP2(a.conn) {
		return true // a write that failed later was one of another request
	}
	c := underTLS(a.conn)
	return c == nil || !c.unread.Load()
}

// early reports whether a provider has had hardly any time to work on the request.
func (a *attempt) early() bool {
	return !a.written.Load() || time.Since(a.writtenAt) <= staleTime
}

// stale reports whether err is the end of a kept connection, early and before any byte of an
// answer. A timeout of ours and an HTTP/2 stream that was reset leave their connection alive;
// the streams that fail after GOAWAY are those that the provider has taken.
func (a *attempt) stale(err error) bool {
	var timeout net.Error
	var reset http2.StreamError
	var goAway http2.GoAwayError //nolint:staticcheck // deprecated without a successor; Caddy's transport returns it
	switch {
	case !a.kept || a.answered.Load() || !a.early():
		return false
	case errors.As(err, &reset) || errors.As(err, &goAway):
		return false
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.Is(err, syscall.ETIMEDOUT) // the kernel's, of an upload that stood still
	}
	return true
}

// refusedIdle reports whether the answer is that of a provider that closed a kept connection
// as idle: it has not got the request, which may be repeated (RFC 9110, 15.5.9).
func (a *attempt) refusedIdle(resp *http.Response) bool {
	return resp.StatusCode == http.StatusRequestTimeout && resp.Close && a.kept && a.early()
}

// unprocessed reports whether err says that the provider has not begun with the request.
func unprocessed(err error) bool {
	var reset http2.StreamError
	return errors.As(err, &reset) && reset.Code == http2.ErrCodeRefusedStream // RFC 9113, 8.7
}
