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

// link is the connection of an open session.
type link struct {
	session *vncsession.Session
	conn    net.Conn
	framer  *rfb.Framer // keeps the clipboard out of the recording; nil: there is none

	mu     sync.Mutex // guards the following, and writes
	closed bool
}

var errHungUp = errors.New("the connection is closed")

func newLink(session *vncsession.Session, conn net.Conn) *link {
	l := &link{session: session, conn: conn}
	if session.Recording != nil {
		l.framer = rfb.NewFramer(framebuffer.LiveFormat)
	}
	return l
}

// Read counts and records what comes.
func (l *link) Read(p []byte) (int, error) {
	n, err := l.conn.Read(p)
	l.session.Live.Down.Add(int64(n))
	if l.framer != nil {
		if err := l.framer.Parts(p[:n], l.session.Recording.Server); err != nil {
			l.session.Recording.Abort(err)
		}
	}
	return n, err
}

// write writes whole messages, and records them.
func (l *link) write(within time.Duration, messages ...[]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errHungUp
	}
	if len(messages) == 0 {
		return nil
	}
	for _, m := range messages {
		l.session.Recording.Sent(m)
	}
	_ = l.conn.SetWriteDeadline(time.Now().Add(within))
	n, err := l.conn.Write(bytes.Join(messages, nil))
	l.session.Live.Up.Add(int64(n))
	return err
}

// send is write. A failure ends the session.
func (l *link) send(messages ...[]byte) error {
	if l.write(answerLimit, messages...) == nil {
		return nil
	}
	return l.fail()
}

// fail ends the session because of its workstation.
func (l *link) fail() error {
	l.session.Live.End(desktop.ReasonWorkstation)
	return l.ended()
}

// hurry bounds a write under way: somebody waits for the next one, or the connection is about to be closed.
func (l *link) hurry() { _ = l.conn.SetWriteDeadline(time.Now().Add(lastWrite)) }

// close ends the connection, with last messages.
func (l *link) close(last ...[]byte) {
	_ = l.write(lastWrite, last...)
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	_ = l.conn.Close()
}

// ended is the error of a call whose session has ended.
func (l *link) ended() error {
	why, name := l.session.Live.Why(), l.session.Pass.Workstation.Name
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
	e := apierror.New(apierror.SessionEnded, "session %s has ended: %s", l.session.Live.ID, why)
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
