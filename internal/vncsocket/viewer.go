package vncsocket

import (
	"errors"
	"net"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

// viewer is a browser's connection. It ends with the sign-in.
type viewer struct {
	*wsconn.Conn
	stop func() // lets go of the sign-in

	mu   sync.Mutex           // guards the following
	live *workstation.Session // once it is open
	out  bool                 // the sign-in has ended
}

func newViewer(conn *wsconn.Conn, onSignOut func(func()) func()) *viewer {
	v := &viewer{Conn: conn, stop: func() {}}
	if onSignOut != nil {
		v.stop = onSignOut(v.signOut)
	}
	return v
}

// signOut ends the session, or the handshake. It waits for nothing.
func (v *viewer) signOut() {
	v.mu.Lock()
	v.out = true
	live := v.live
	v.mu.Unlock()
	if live != nil {
		live.End(workstation.ReasonSignedOut)
		return
	}
	go v.hangUp(workstation.ReasonSignedOut, "") // ends after a second at the latest
}

// opened says which session ends with the sign-in from now on.
func (v *viewer) opened(live *workstation.Session) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.live = live
	if v.out {
		live.End(workstation.ReasonSignedOut)
	}
}

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
	live := v.live
	v.mu.Unlock()
	v.hangUp(end.Reason, live.EndedBy())
}

// Drain implements [vncrelay.Viewer]: HangUp has waited for the browser.
func (v *viewer) Drain() {}

func (v *viewer) hangUp(why workstation.Reason, by string) { v.Hangup(endOf(why, by)) }

var _ vncrelay.Viewer = (*viewer)(nil)
