package vncsocket

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

// viewer is a browser's connection. It ends with the sign-in.
type viewer struct {
	*wsconn.Conn
	stop func() // lets go of the sign-in

	mu    sync.Mutex      // guards the following
	relay *vncrelay.Relay // once the session is open
	out   bool            // the sign-in has ended
}

func newViewer(conn *wsconn.Conn, onSignOut func(func() time.Time, func()) func()) *viewer {
	v := &viewer{Conn: conn, stop: func() {}}
	if onSignOut != nil {
		v.stop = onSignOut(v.used, v.signOut)
	}
	return v
}

// signOut ends the session, or the handshake. It waits for nothing.
func (v *viewer) signOut() {
	v.mu.Lock()
	v.out = true
	relay := v.relay
	v.mu.Unlock()
	if relay != nil {
		relay.Session.Live.End(desktop.ReasonSignedOut)
		return
	}
	go v.hangUp(desktop.ReasonSignedOut, "") // ends after a second at the latest
}

// opened says which desktop ends with the sign-in from now on.
func (v *viewer) opened(relay *vncrelay.Relay) {
	v.mu.Lock()
	v.relay = relay
	out := v.out
	v.mu.Unlock()
	if out {
		relay.Session.Live.End(desktop.ReasonSignedOut)
	}
}

const (
	// moveQuiet is how long a person has not typed when the session moves to another gateway.
	moveQuiet = 5 * time.Second
	// moveTime is how long a person who goes on typing keeps it here.
	moveTime = time.Minute
)

// moveSoon ends the session at a moment when nobody types. The page then connects to another gateway.
func moveSoon(relay *vncrelay.Relay) {
	latest := time.Now().Add(moveTime)
	for {
		quiet := relay.LastInput().Add(moveQuiet)
		wait := min(time.Until(quiet), time.Until(latest))
		if wait <= 0 {
			relay.Session.Live.End(desktop.ReasonShutdown)
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-relay.Session.Live.Ended():
			timer.Stop()
			return
		}
	}
}

// used is when the person at the browser has last used the desktop.
func (v *viewer) used() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.relay == nil {
		return time.Time{}
	}
	return v.relay.LastInput()
}

// signedOut reports whether the sign-in has ended. It is called with the workstations' lock held: no
// other may be taken under mu.
func (v *viewer) signedOut() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.out
}

// Read implements [vncrelay.Viewer].
func (v *viewer) Read(p []byte) (int, error) {
	n, err := v.Conn.Read(p)
	if err == nil {
		return n, nil
	}
	var kind rfb.Kind
	switch {
	case errors.Is(err, wsconn.ErrText):
		kind = rfb.KindMessage
	case errors.Is(err, wsconn.ErrTooLong):
		kind = rfb.KindTooLong
	case errors.Is(err, wsconn.ErrFraming):
		kind = rfb.KindGarbage
	default:
		return n, err
	}
	return n, &rfb.Error{Kind: kind, Step: "reading the browser's messages", Err: err}
}

// Socket implements [vncrelay.Viewer].
func (v *viewer) Socket() net.Conn { return vncrelay.Lowest(v.Conn) }

// HangUp implements [vncrelay.Viewer].
func (v *viewer) HangUp(end vncrelay.End) {
	if end.Gone {
		v.Abort()
		return
	}
	v.mu.Lock()
	relay := v.relay
	v.mu.Unlock()
	v.hangUp(end.Reason, relay.Session.Live.EndedBy())
}

// Drain implements [vncrelay.Viewer]: HangUp has waited for the browser.
func (v *viewer) Drain() {}

func (v *viewer) hangUp(why desktop.Reason, by string) { v.Hangup(endOf(why, by)) }

var _ vncrelay.Viewer = (*viewer)(nil)
