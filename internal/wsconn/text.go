package wsconn

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// ErrBinary is returned for a message that is not text.
var ErrBinary = errors.New("a binary message instead of a text one")

// ClosedError says that the peer has closed the connection.
type ClosedError struct{ Code int } // RFC 6455, section 7.4.1

// Error implements error.
func (e *ClosedError) Error() string { return "closed with the code " + strconv.Itoa(e.Code) }

// Text is a WebSocket of text messages of any length, such as events in JSON. Next is for one
// goroutine at a time; all other methods are safe for concurrent use.
type Text struct {
	conn  *Conn
	write time.Duration

	sending sync.Mutex // held by Send
}

// AcceptText is Accept for text messages, with one of the subprotocols or without. A message of
// more than limit bytes must be refused by who reads it; one that is longer by far ends the
// connection. A Send may take as long as write.
func AcceptText(w http.ResponseWriter, r *http.Request, limit int64, write time.Duration, subprotocols ...string) (*Text, error) {
	conn, err := accept(w, r, subprotocols, limit+1)
	if err != nil {
		return nil, err
	}
	return &Text{conn: conn, write: write}, nil
}

// Next waits for the next message. It must be read to its end before the next Next. The errors are
// those of Conn.Read, [ErrBinary], and a [ClosedError].
func (t *Text) Next() (io.Reader, error) {
	kind, message, err := t.conn.ws.Reader(context.Background())
	var closed websocket.CloseError
	switch {
	case errors.As(err, &closed):
		return nil, &ClosedError{int(closed.Code)}
	case err != nil:
		return nil, t.conn.readError(err)
	}
	if kind != websocket.MessageText {
		return nil, ErrBinary
	}
	return message, nil
}

// Send sends messages, together in as few packets as possible. After an error the connection is
// closed: a part of a message may have been sent.
func (t *Text) Send(messages ...[]byte) error {
	t.sending.Lock()
	defer t.sending.Unlock()
	c := t.conn
	if err := c.SetWriteDeadline(time.Now().Add(t.write)); err != nil {
		return err
	}
	if err := c.beginWrite(); err != nil {
		return err
	}
	defer c.endWrite()
	c.socket.hold()
	var err error
	for _, m := range messages {
		if err = c.ws.Write(context.Background(), websocket.MessageText, m); err != nil {
			break
		}
	}
	if err = errors.Join(err, c.socket.flush()); err != nil {
		c.Abort()
		return err
	}
	_ = c.SetWriteDeadline(time.Time{}) // it must not fail a pong; else the connection is over
	return nil
}

// SetReadDeadline is that of Conn.
func (t *Text) SetReadDeadline(at time.Time) error { return t.conn.SetReadDeadline(at) }

// Hangup is that of Conn.
func (t *Text) Hangup(code int, reason string) { t.conn.Hangup(code, reason) }

// Close is that of Conn.
func (t *Text) Close() { _ = t.conn.Close() } // it may be closed already
