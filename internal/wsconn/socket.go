package wsconn

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// notWaiting is the time of a socket in which nobody reads.
const notWaiting = -1

// socket is the connection below the frames. It knows since when it waits for the browser.
type socket struct {
	net.Conn
	begun   time.Time
	waiting atomic.Int64 // since when a Read waits, in nanoseconds since begun
	lost    atomic.Bool  // a Read has failed

	writes sync.Mutex // guards the following, and writing
	holds  bool
	held   []byte // what is to be written, while holds
}

// maxHeld bounds what is held for one write, in bytes.
const maxHeld = 64 << 10

var heldBuffers = sync.Pool{New: func() any { b := make([]byte, 0, maxHeld); return &b }}

// hold keeps what is written until flush, so that many small frames are one packet.
func (s *socket) hold() {
	s.writes.Lock()
	defer s.writes.Unlock()
	s.holds = true
}

// flush writes what was held.
func (s *socket) flush() error {
	s.writes.Lock()
	defer s.writes.Unlock()
	s.holds = false
	return s.writeHeld()
}

func (s *socket) Write(p []byte) (int, error) {
	s.writes.Lock()
	defer s.writes.Unlock()
	if s.holds && len(s.held)+len(p) <= maxHeld {
		if s.held == nil {
			s.held = (*heldBuffers.Get().(*[]byte))[:0]
		}
		s.held = append(s.held, p...)
		return len(p), nil
	}
	if err := s.writeHeld(); err != nil {
		return 0, err
	}
	return s.Conn.Write(p)
}

func (s *socket) writeHeld() error {
	if s.held == nil {
		return nil
	}
	held := s.held
	s.held = nil
	_, err := s.Conn.Write(held)
	heldBuffers.Put(&held)
	return err
}

// now is the time in nanoseconds since begun.
func (s *socket) now() int64 { return int64(time.Since(s.begun)) }

func (s *socket) Read(p []byte) (int, error) {
	s.waiting.Store(s.now())
	n, err := s.Conn.Read(p)
	s.waiting.Store(notWaiting)
	if err != nil {
		s.lost.Store(true)
	}
	return n, err
}

func (s *socket) shut() { _ = s.Close() } // it may be closed already

// abort discards what was sent.
func (s *socket) abort() {
	lowest := s.Conn
	for {
		below, ok := lowest.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		lowest = below.NetConn()
	}
	if tcp, ok := lowest.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it is closed in any case
	}
	s.shut()
}

// hijacker keeps the connection that it hands over.
type hijacker struct {
	http.ResponseWriter
	socket *socket
}

// Hijack implements [http.Hijacker]. It takes the server's own connection: one of a middleware may count
// bytes for an access log, which is written while the WebSocket goes on, and would hold the request as long.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	lowest := h.ResponseWriter
	for {
		middleware, ok := lowest.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		lowest = middleware.Unwrap()
	}
	conn, buffers, err := http.NewResponseController(lowest).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.socket = &socket{Conn: conn, begun: time.Now()}
	h.socket.waiting.Store(notWaiting)
	buffers.Writer.Reset(h.socket) // it is empty: the answer was sent
	return h.socket, buffers, nil
}

// NetConn is the connection below the frames.
func (c *Conn) NetConn() net.Conn { return c.socket.Conn }

// LocalAddr implements [net.Conn].
func (c *Conn) LocalAddr() net.Addr { return c.socket.LocalAddr() }

// RemoteAddr implements [net.Conn].
func (c *Conn) RemoteAddr() net.Addr { return c.socket.RemoteAddr() }

// SetDeadline implements [net.Conn].
func (c *Conn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return net.ErrClosed
	}
	c.write, c.armed = t, true
	return c.socket.SetDeadline(t)
}

// SetReadDeadline implements [net.Conn].
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return net.ErrClosed
	}
	return c.socket.SetReadDeadline(t)
}

// SetWriteDeadline implements [net.Conn].
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return net.ErrClosed
	}
	c.write, c.armed = t, true
	return c.socket.SetWriteDeadline(t)
}

// maxReason is the longest reason of a Close, in bytes (RFC 6455, section 5.5).
const maxReason = 123

// cut shortens a reason at a character.
func cut(reason string) string {
	if len(reason) <= maxReason {
		return reason
	}
	at := maxReason
	for at > 0 && !utf8.RuneStart(reason[at]) {
		at--
	}
	return reason[:at]
}
