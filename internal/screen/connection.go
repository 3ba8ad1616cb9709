package screen

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

const (
	// answerLimit bounds each wait for the workstation: its login, its answer to a request, one
	// message from the first byte to the last, a write to it.
	answerLimit = 10 * time.Second
	// eventLimit bounds the write of an event, for which a person's first key may have to wait.
	eventLimit = 2 * time.Second
	// lastWrite is how long the keys may take that come up at the end.
	lastWrite = 300 * time.Millisecond
)

// connection is that of an open session.
type connection struct {
	session *vncsession.Session
	socket  net.Conn
	framer  *rfb.Framer // keeps the clipboard out of the recording; nil: there is none

	mu     sync.Mutex // guards the following, and writes
	closed bool
}

var errHungUp = errors.New("the connection is closed")

func newConnection(session *vncsession.Session, conn net.Conn) *connection {
	c := &connection{session: session, socket: conn}
	if session.Recording != nil {
		c.framer = rfb.NewFramer(framebuffer.LiveFormat)
	}
	return c
}

// Read counts and records what comes.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.socket.Read(p)
	c.session.Live.Down.Add(int64(n))
	if c.framer != nil {
		if err := c.framer.Parts(p[:n], c.session.Recording.Server); err != nil {
			c.session.Recording.Abort(err)
		}
	}
	return n, err
}

// write writes whole messages, and records them.
func (c *connection) write(within time.Duration, messages ...[]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errHungUp
	}
	if len(messages) == 0 {
		return nil
	}
	for _, m := range messages {
		c.session.Recording.Sent(m)
	}
	_ = c.socket.SetWriteDeadline(time.Now().Add(within))
	n, err := c.socket.Write(bytes.Join(messages, nil))
	c.session.Live.Up.Add(int64(n))
	return err
}

// send is write. A failure ends the session.
func (c *connection) send(messages ...[]byte) error {
	if c.write(answerLimit, messages...) == nil {
		return nil
	}
	return c.fail()
}

// fail ends the session because of its workstation.
func (c *connection) fail() error {
	c.session.Live.End(desktop.ReasonWorkstation)
	return c.ended()
}

// hurry bounds a write under way: somebody waits for the next one, or the connection is about to be closed.
func (c *connection) hurry() { _ = c.socket.SetWriteDeadline(time.Now().Add(lastWrite)) }

// hangUp ends our side of the connection, with last messages. The workstation then ends its own,
// which ends the reader.
func (c *connection) hangUp(last ...[]byte) {
	_ = c.write(lastWrite, last...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		vncrelay.HangUp(c.socket)
	}
}

// ended is the error of a call whose session has ended.
func (c *connection) ended() error {
	why, name := c.session.Live.Why(), c.session.Pass.Workstation.Name
	switch why {
	case desktop.ReasonReleased:
		return apierror.New(apierror.NotFound, "workstation %q was released", name)
	case desktop.ReasonReplaced:
		return apierror.New(apierror.WorkstationOccupied, "a person has taken workstation %q", name)
	case desktop.ReasonShutdown:
		return apierror.New(apierror.ShuttingDown, "the gateway is shutting down")
	case desktop.ReasonWorkstation, desktop.ReasonProtocol:
		return unreachable("it closed the connection, did not answer in time, or sent what cannot be read", nil)
	}
	e := apierror.New(apierror.SessionEnded, "session %s has ended: %s", c.session.Live.ID, why)
	e.RefusedBy = why.Option()
	return e
}

// refused is the error for a caller, of what a viewer would have been refused with.
func refused(err error) error {
	var r *desktop.Refusal
	if !errors.As(err, &r) {
		return err
	}
	switch r.Code {
	case desktop.RefusedBusy:
		return apierror.New(apierror.WorkstationOccupied, "somebody has the workstation, and a rule says that nobody else may be there")
	case desktop.RefusedFull:
		return busy("max_sessions", "as many sessions are open as the gateway allows")
	case desktop.RefusedShutdown:
		return apierror.New(apierror.ShuttingDown, "%s", r.Text)
	case desktop.RefusedUnavailable, desktop.RefusedRecording:
		return apierror.New(apierror.StorageUnavailable, "%s", r.Text)
	case desktop.WorkstationDenied, desktop.WorkstationStarting, desktop.SourceUnavailable:
		return apierror.New(apierror.Code(r.Code), "%s", r.Text)
	}
	if r.Status() < 500 { // it was released, or the key was withdrawn, meanwhile
		return apierror.New(apierror.NotFound, "%s", r.Text)
	}
	return unreachable(string(r.Code), nil)
}

func unreachable(what string, cause error) *apierror.Error {
	return apierror.New(apierror.WorkstationUnreachable, "the workstation cannot be used now: %s", what).WithCause(cause)
}
