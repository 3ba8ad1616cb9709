package provider

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
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

// ReadToEnd wraps a transport's dial function so that an answer takes precedence over a failed
// upload. A provider may refuse a request before it has read the body, and close. net/http returns
// whichever it sees first, the answer or the failed write, and closes the connection after the
// write. With ReadToEnd the write seems to succeed, and the provider's answer is read.
//
// On Linux the connection also ends if the provider acknowledges nothing for a minute.
func ReadToEnd(dial DialFunc) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		_ = boundUnacknowledged(conn, unacknowledged) // without it the connection only ends later
		return &connection{Conn: conn}, nil
	}
}

// unacknowledged is for how long a provider may not acknowledge what was sent. It is much longer than
// a restart of its machine's network, and shorter than most clients wait.
const unacknowledged = time.Minute

// pings find an HTTP/2 connection whose provider is gone without a word: all its calls would wait for
// their own time limits, and new ones would use it meanwhile. They are rare enough for servers that
// count them as an attack.
var pings = http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}

// SendPings has a transport that [http2.ConfigureTransport] prepared end HTTP/2 connections that are
// dead: 45 seconds after the last frame.
func SendPings(t *http.Transport) {
	config := pings
	t.HTTP2 = &config
}

// connection hides that its peer no longer reads.
type connection struct {
	net.Conn
	answered atomic.Bool // it has carried an answer
	closing  atomic.Bool // its last request is written
	unread   atomic.Bool // a part of a request was discarded
}

// Write fails only if reading would fail as well: after a reset the kernel delivers what has
// arrived, and then the end.
func (c *connection) Write(p []byte) (int, error) {
	if c.unread.Load() {
		return len(p), nil
	}
	n, err := c.Conn.Write(p)
	if c.hides(err) {
		return len(p), nil
	}
	return n, err
}

// hides reports whether a write seems to succeed in spite of err, and notes that it did.
func (c *connection) hides(err error) bool {
	if c.closing.Load() || !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		return false
	}
	c.unread.Store(true)
	return true
}

// ReadFrom implements [io.ReaderFrom], by which net/http sends a body over a connection without TLS.
// The bytes of a [Body] go to the kernel from where they lie, in one call. Anything else is copied
// in pieces, as without this method: among it a connection with timeouts for each piece.
func (c *connection) ReadFrom(r io.Reader) (int64, error) {
	tcp, isTCP := c.Conn.(*net.TCPConn)
	limited, isLimited := r.(*io.LimitedReader)
	if isTCP && isLimited {
		if body, ok := limited.R.(*bodyReader); ok {
			if rest := body.rest(); limited.N == sizeOf(rest) {
				return c.send(tcp, body, rest)
			}
		}
	}
	return io.Copy(struct{ io.Writer }{c}, r)
}

// send writes the rest of a body, with the results of Write.
func (c *connection) send(tcp *net.TCPConn, body *bodyReader, rest net.Buffers) (int64, error) {
	size := sizeOf(rest)
	if !c.unread.Load() {
		if n, err := rest.WriteTo(tcp); err != nil && !c.hides(err) {
			return n, err
		}
	}
	body.end()
	return size, nil
}

// SetWriteDeadline is called by tls.Conn before it writes close_notify, and never by http.Transport
// over HTTP/1. Bytes written from then on belong to no request.
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

// staleTime is how soon after the request was written a connection must end to count as one that
// the provider was closing. It is enough for a round trip and a lost packet, and too short for most
// work.
const staleTime = time.Second

// attempt is one transmission of a request, as net/http traces it.
type attempt struct {
	trace httptrace.ClientTrace
	conn  net.Conn
	kept  bool // conn had answered an earlier request and carries no other

	// The following are set on the connection's goroutines.
	writtenAt time.Time   // valid when written is set
	written   atomic.Bool // completely
	answered  atomic.Bool // the first byte of an answer has arrived
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

// use records the connection of the request. net/http switches to another connection if nobody can
// have begun with the request. Two rules of net/http matter here. HTTP/2 counts a connection as
// reused and idle from its second request on, even if that is sent together with the first: so an
// answer must have come. HTTP/1 does not count a connection as idle that goes from an answered
// request straight to a waiting one.
func (a *attempt) use(info httptrace.GotConnInfo) {
	c := underTLS(info.Conn)
	alone := info.WasIdle || c != nil && !speaksHTTP2(info.Conn)
	a.conn, a.kept = info.Conn, info.Reused && alone && (c == nil || c.answered.Load())
	a.written.Store(false)
}

// delivered reports whether a provider may have received the whole request, so that it may have
// processed it. It is for a request without an answer.
func (a *attempt) delivered() bool {
	if !a.written.Load() {
		return false
	}
	if speaksHTTP2(a.conn) {
		return true // a later failed write belongs to another request
	}
	c := underTLS(a.conn)
	return c == nil || !c.unread.Load()
}

// early reports whether a provider has had hardly any time to work on the request.
func (a *attempt) early() bool {
	return !a.written.Load() || time.Since(a.writtenAt) <= staleTime
}

// stale reports whether err is the end of a kept connection, early and before any byte of an
// answer. Our own timeout and a reset HTTP/2 stream leave their connection alive. Streams that fail
// after GOAWAY are those that the provider has taken.
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
		return errors.Is(err, syscall.ETIMEDOUT) // the kernel's, of a stalled upload
	}
	return true
}

// refusedIdle reports whether the answer comes from a provider that closed a kept connection as
// idle. It has not received the request, which may be repeated (RFC 9110, 15.5.9).
func (a *attempt) refusedIdle(resp *http.Response) bool {
	return resp.StatusCode == http.StatusRequestTimeout && resp.Close && a.kept && a.early()
}

// unprocessed reports whether err says that the provider has not begun with the request.
func unprocessed(err error) bool {
	var reset http2.StreamError
	return errors.As(err, &reset) && reset.Code == http2.ErrCodeRefusedStream // RFC 9113, 8.7
}
