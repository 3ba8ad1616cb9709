// Package wsconn makes a net.Conn of a WebSocket (RFC 6455), for the server's side of a stream of
// bytes that a browser reads and writes in binary messages.
//
//	conn, err := wsconn.Accept(w, r, "gatehouse.vnc.1")    // the caller has checked the Origin
//	first, err := conn.ReadMessage(64)
//	…                                                      // Read, Write, SetDeadline
//	conn.Hangup(4001, "The workstation was released.")     // what the browser's close event has
//
// Framing is that of github.com/coder/websocket. Its own net.Conn closes the connection without a
// code when a deadline strikes, and lifts the limit of what is read: so this one is ours. Messages are
// not compressed: a picture is already, and a shared window of compression leaks secrets.
//
// Nothing runs while the connection is quiet. Whoever calls Read is its only reader, and answers
// pings and closes on the way. One timer sends a ping after 25 s without a byte in one of the
// directions, because proxies cut what is silent for a minute. Where not even a pong has come 20 s
// later, although a Read was waiting, the connection is closed.
package wsconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	// MaxMessage bounds, in bytes, a message from the browser: noVNC sends 10 KiB at a time.
	MaxMessage = 64 << 10
	// maxWrite is the longest message to the browser, in bytes. A browser hands a message over only
	// when it is whole.
	maxWrite = 32 << 10

	// PingAfter is how long one direction may be silent until a ping is sent.
	PingAfter = 25 * time.Second
	// PongWithin is how long the browser has to answer it.
	PongWithin = 20 * time.Second

	// HangupTime bounds Hangup: the wait for what is being written, for the browser's answer, and
	// both together.
	HangupTime = time.Second
)

// The codes of this package's own ends (RFC 6455, section 7.4.1).
const (
	codeUnsupported = websocket.StatusUnsupportedData // 1003: a text message
)

var (
	// ErrText is returned for a message that is not binary.
	ErrText = errors.New("a text message instead of a binary one")
	// ErrTooLong is returned for a message that is longer than it may be.
	ErrTooLong = errors.New("a message that is too long")
	// ErrFraming is returned, wrapped, for what is no WebSocket frame.
	ErrFraming = errors.New("no frame of a WebSocket")
)

// Conn is one WebSocket. Read and ReadMessage are for one goroutine at a time, and so is Write; all
// other methods are safe for concurrent use.
type Conn struct {
	ws     *websocket.Conn
	socket *socket

	message io.Reader // that is being read, nil between messages
	ended   error     // of the reader, which stays

	hangup  sync.Once
	mu      sync.Mutex // guards the following, and deadlines of the socket
	over    bool       // hung up or closed: no deadline but that of Hangup counts
	writing bool       // a Write is under way
	said    int64      // when the last Write ended, as the socket's time
	write   time.Time  // the deadline of writes
	armed   bool       // the socket has it
	timer   *time.Timer
}

// Accept upgrades a request to a WebSocket that speaks the subprotocol. On an error it has answered.
// It does not look at the Origin. The connection is the caller's from then on, who may return from
// the request's handler.
func Accept(w http.ResponseWriter, r *http.Request, subprotocol string) (*Conn, error) {
	return accept(w, r, []string{subprotocol}, MaxMessage)
}

// accept is Accept with a limit of messages in bytes.
func accept(w http.ResponseWriter, r *http.Request, subprotocols []string, limit int64) (*Conn, error) {
	taken := &hijacker{ResponseWriter: w}
	ws, err := websocket.Accept(taken, r, &websocket.AcceptOptions{
		Subprotocols: subprotocols, CompressionMode: websocket.CompressionDisabled,
		InsecureSkipVerify: true, // of the Origin: the caller's rule is stricter
	})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(limit)
	c := &Conn{ws: ws, socket: taken.socket}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(PingAfter, c.check)
	return c, nil
}

// Read reads the next bytes, of any message. A deadline that strikes ends all reading: what had
// arrived of a frame is lost. Writes and Hangup go on. A text message hangs up with 1003.
func (c *Conn) Read(p []byte) (int, error) {
	for c.ended == nil {
		if c.message == nil {
			kind, message, err := c.ws.Reader(context.Background())
			if err != nil {
				c.ended = c.readError(err)
				break
			}
			if kind != websocket.MessageBinary {
				c.Hangup(int(codeUnsupported), "Only binary messages are read.")
				c.ended = ErrText
				break
			}
			c.message = message
		}
		n, err := c.message.Read(p)
		if err == io.EOF {
			c.message, err = nil, nil
		}
		if err != nil {
			c.ended = c.readError(err)
		}
		if n > 0 || len(p) == 0 {
			return n, nil
		}
	}
	return 0, c.ended
}

// ReadMessage reads one message whole, of at most limit bytes. It is not for the middle of a message
// that Read has begun. It does not hang up by itself.
func (c *Conn) ReadMessage(limit int) ([]byte, error) {
	kind, message, err := c.ws.Reader(context.Background())
	if err != nil {
		c.ended = c.readError(err)
		return nil, c.ended
	}
	if kind != websocket.MessageBinary {
		c.ended = ErrText
		return nil, c.ended
	}
	b, err := io.ReadAll(io.LimitReader(message, int64(limit)+1))
	switch {
	case err != nil:
		c.ended = c.readError(err)
	case len(b) > limit:
		c.ended = ErrTooLong
	default: // the end of the message is read with it
		_, err = message.Read(make([]byte, 1))
		if err != io.EOF {
			c.ended = ErrTooLong
		}
	}
	return b, c.ended
}

// readError is the error of a Read in the terms of net.Conn.
func (c *Conn) readError(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return os.ErrDeadlineExceeded
	case errors.Is(err, websocket.ErrMessageTooBig):
		return ErrTooLong
	case websocket.CloseStatus(err) != -1:
		return io.EOF
	case c.socket.lost.Load(), errors.Is(err, net.ErrClosed):
		return net.ErrClosed
	}
	return fmt.Errorf("%w: %w", ErrFraming, err)
}

// Write sends p in binary messages of up to 32 KiB. A deadline that strikes within one leaves a part
// of it with the browser: then Hangup can only close. One that has passed before sends nothing.
func (c *Conn) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		piece := p[:min(len(p), maxWrite)]
		if err := c.beginWrite(); err != nil {
			return n, err
		}
		err := c.ws.Write(context.Background(), websocket.MessageBinary, piece)
		c.endWrite()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = os.ErrDeadlineExceeded
		}
		if err != nil {
			return n, err
		}
		n += len(piece)
		p = p[len(piece):]
	}
	return n, nil
}

func (c *Conn) beginWrite() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.over:
		return net.ErrClosed
	case c.write.IsZero():
	case !time.Now().Before(c.write):
		return os.ErrDeadlineExceeded
	case !c.armed:
		c.armed = true
		if err := c.socket.SetWriteDeadline(c.write); err != nil {
			return err
		}
	}
	c.writing = true
	return nil
}

func (c *Conn) endWrite() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
	c.said = c.socket.now()
}

// Hangup sends a Close with the code and the reason, cut to 123 bytes, waits for the browser's own
// and closes the connection, all within HangupTime. Only the first call counts; the others wait for
// it. A Read that waits returns.
func (c *Conn) Hangup(code int, reason string) {
	c.hangup.Do(func() {
		c.stop(time.Now().Add(HangupTime))
		limit := time.AfterFunc(HangupTime, c.socket.shut)
		defer limit.Stop()
		_ = c.ws.Close(websocket.StatusCode(code), cut(reason)) // the browser may be gone
		c.socket.shut()
	})
}

// Close closes the connection without a code.
func (c *Conn) Close() error {
	c.stop(time.Time{})
	c.socket.shut()
	return c.ws.CloseNow()
}

// Abort closes the connection of a browser that is gone, and discards what was sent to it.
func (c *Conn) Abort() {
	c.stop(time.Time{})
	c.socket.abort()
	_ = c.ws.CloseNow() // it is closed
}

// stop ends pings and deadlines; writes may go on until a time.
func (c *Conn) stop(write time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.over = true
	c.timer.Stop()
	_ = c.socket.SetReadDeadline(time.Time{})
	_ = c.socket.SetWriteDeadline(write)
}

var (
	_ net.Conn = (*Conn)(nil)
)
