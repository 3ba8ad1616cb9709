package handover

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// maxRecord bounds what is kept of a request, in bytes: a header of Caddy's usual limit and what
// net/http reads beyond it. A connection with more is not given away.
const maxRecord = 32 << 10

// keptRecord bounds the memory that an idle connection keeps for its next request, in bytes: as much
// as net/http reads at once.
const keptRecord = 4 << 10

// phase is what a server does with a connection.
type phase uint8

const (
	waiting  phase = iota // for a request, or the rest of its header
	arrived               // net/http has read the header, and either calls the handler or drops it
	handling              // the handler has the request
	foreign               // not HTTP/1, hijacked or with more than one request at a time
)

// connection is one that its server may have to give away.
type connection struct {
	net.Conn
	listener *Listener
	address  net.Addr

	mu       sync.Mutex // guards the following
	phase    phase
	unread   []byte // what another server has read, to be read first
	record   []byte // the request that has come last, up to maxRecord, until its handler has it
	size     int    // of the request that a handler got last, -1 if unknown
	got      int    // bytes of the request that has come last, and what followed it
	first    byte   // the last byte that was read, if early
	early    bool   // it may belong to the next request
	answered bool   // completely
	reading  bool
	failed   bool // a read has failed
	closed   bool
}

// remoteAddr leads from a connection that others have wrapped to its [connection].
type remoteAddr struct {
	net.Addr
	conn *connection
}

type plainConn struct{ *connection }

// ReadFrom lets net/http send files without a copy.
func (c plainConn) ReadFrom(r io.Reader) (int64, error) {
	if err := c.writes(); err != nil {
		return 0, err
	}
	return io.Copy(c.Conn, r)
}

type tlsConn struct{ *connection }

// ConnectionState is for Caddy and net/http, which know only *tls.Conn otherwise.
func (c tlsConn) ConnectionState() tls.ConnectionState { return c.Conn.(*tls.Conn).ConnectionState() }

func (l *Listener) wrap(conn net.Conn, unread []byte) net.Conn {
	c := &connection{Conn: conn, listener: l, unread: unread}
	c.address = &remoteAddr{conn.RemoteAddr(), c}
	if _, secure := conn.(*tls.Conn); secure {
		return tlsConn{c}
	}
	return plainConn{c}
}

// RemoteAddr implements [net.Conn].
func (c *connection) RemoteAddr() net.Addr { return c.address }

// NetConn is the connection below, for what only the system knows of it.
func (c *connection) NetConn() net.Conn { return c.Conn }

// StateChanged must be called by the server as [http.Server.ConnState].
func StateChanged(conn net.Conn, state http.ConnState) {
	address, ok := conn.RemoteAddr().(*remoteAddr)
	if !ok {
		return
	}
	c := address.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.phase == foreign:
	case state == http.StateActive && c.phase == waiting:
		c.phase = arrived
	case state == http.StateIdle && c.phase != waiting: // two wrappers report each state twice
		c.begun()
		c.phase, c.answered = waiting, true
		if c.early {
			c.early = false
			c.next(1, []byte{c.first})
		}
	case state == http.StateHijacked:
		c.phase = foreign
	}
}

// Read implements [net.Conn].
func (c *connection) Read(p []byte) (int, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return 0, net.ErrClosed
	}
	c.begun() // it reads the body, or net/http looks meanwhile whether the client leaves
	if len(c.unread) > 0 {
		n := copy(p, c.unread)
		if c.unread = c.unread[n:]; len(c.unread) == 0 {
			c.unread = nil // a large record
		}
		c.received(p[:n])
		c.mu.Unlock()
		return n, nil
	}
	c.reading = true
	c.mu.Unlock()

	n, err := c.Conn.Read(p)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = false
	c.received(p[:n])
	if !c.closed {
		c.failed = c.failed || err != nil && (c.phase == waiting || !errors.Is(err, os.ErrDeadlineExceeded))
		return n, err
	}
	c.failed = c.failed || err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
	c.end()
	return 0, net.ErrClosed
}

// begun notes, of a request that has arrived, that a handler has it: it will not be given away, and
// only its length is still of interest.
func (c *connection) begun() {
	if c.phase != arrived {
		return
	}
	c.phase, c.size = handling, length(c.record)
	if c.record = c.record[:0]; cap(c.record) > keptRecord {
		c.record = nil
	}
}

// received notes what was read.
func (c *connection) received(p []byte) {
	if len(p) == 0 || c.phase == foreign {
		return
	}
	if c.phase == handling && len(p) == 1 {
		c.early, c.first = true, p[0] // of the next request, or of a body that a handler reads by bytes
	} else {
		c.early = false
	}
	if c.phase == waiting && c.answered {
		c.next(0, nil)
	}
	c.got += len(p)
	if c.phase == handling {
		return
	}
	c.record = append(c.record, p[:min(len(p), maxRecord-len(c.record))]...)
}

// next begins the record of the next request, of which so many bytes of the last one were the first.
// net/http may have read more of it with the last one: then nobody knows what it has.
func (c *connection) next(early int, first []byte) {
	if c.got-early != c.size {
		c.phase, c.record = foreign, nil
		return
	}
	c.record, c.got, c.answered = append(c.record[:0], first...), early, false
}

// Write implements [net.Conn].
func (c *connection) Write(p []byte) (int, error) {
	if err := c.writes(); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

func (c *connection) writes() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	if c.begun(); c.phase == waiting {
		c.phase, c.record = foreign, nil // HTTP/2, or a refusal after which the connection closes
	}
	return nil
}

// CloseWrite is for net/http.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close implements [net.Conn]. If the server is shutting down, the connection may be given away.
func (c *connection) Close() error {
	if !c.dropped() {
		return c.Conn.Close()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	if c.reading {
		return c.Conn.SetReadDeadline(time.Unix(1, 0)) // the reader ends it
	}
	c.end()
	return nil
}

// closingTime is how soon a server that shuts down closes its listeners after it has begun to drop
// requests: two steps of [http.Server.Shutdown], and time for a busy machine.
const closingTime = 50 * time.Millisecond

// dropped reports whether the server shuts down. It waits a moment if nothing else explains why the
// server closes the connection.
func (c *connection) dropped() bool {
	c.mu.Lock()
	unexplained := !c.failed && (c.phase == waiting || c.phase == arrived)
	c.mu.Unlock()
	if unexplained && !c.listener.closed() {
		select {
		case <-c.listener.done:
		case <-time.After(closingTime):
		}
	}
	return c.listener.closed()
}

// SetDeadline implements [net.Conn]. A connection that was given away has the deadlines of its new
// server.
func (c *connection) SetDeadline(t time.Time) error { return c.setDeadline(c.Conn.SetDeadline, t) }

// SetReadDeadline implements [net.Conn].
func (c *connection) SetReadDeadline(t time.Time) error {
	return c.setDeadline(c.Conn.SetReadDeadline, t)
}

// SetWriteDeadline implements [net.Conn].
func (c *connection) SetWriteDeadline(t time.Time) error {
	return c.setDeadline(c.Conn.SetWriteDeadline, t)
}

func (c *connection) setDeadline(set func(time.Time) error, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	return set(t)
}

// end gives the connection away, or closes it.
func (c *connection) end() {
	whole := c.got == len(c.record)
	switch {
	case c.failed || c.Conn.SetDeadline(time.Time{}) != nil:
	case c.phase == waiting && c.answered && c.got == c.size:
		c.listener.pass(c.Conn, nil)
		return
	case whole && !c.answered && (c.phase == waiting || c.phase == arrived):
		c.listener.pass(c.Conn, append(c.record, c.unread...))
		return
	}
	_ = c.Conn.Close()
}
