package l4vnc

import (
	"net"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

const (
	// silenceLimit is how long a peer may acknowledge nothing of what was sent to
	// it: as long as keep-alive takes where nothing was. The system itself
	// would go on for a quarter of an hour.
	silenceLimit = 30 * time.Second
	// peerCheck is how often that is looked at.
	peerCheck = 5 * time.Second
)

// acknowledgements are what the system knows of a peer. One that takes nothing
// but answers that it takes nothing is there: it has stall.
type acknowledgements struct {
	unanswered bool          // something was sent to it since its last sign of life
	last       time.Duration // since that
}

// peer is one end of a session, as seen by its acknowledgements. It is not safe
// for concurrent use.
type peer struct {
	read  func() (acknowledgements, bool) // false where the system cannot tell
	since time.Time                       // unanswered since then; zero: answered
}

// newPeer watches conn. Of what is no TCP, and on systems without TCP_INFO, it
// knows nothing.
func newPeer(conn net.Conn) peer {
	tcp, ok := transport(conn).(*net.TCPConn)
	if !ok {
		return peer{}
	}
	return peer{read: readAcknowledgements(tcp)}
}

// gone reports whether the peer is gone: it has answered nothing for after,
// which is counted from the first look at which an answer was due.
func (p *peer) gone(now time.Time, after time.Duration) bool {
	if p.read == nil {
		return false
	}
	acks, ok := p.read()
	if !ok || !acks.unanswered {
		p.since = time.Time{}
		return false
	}
	heard := now.Add(-acks.last)
	switch {
	case p.since.IsZero():
		p.since = now
	case heard.After(p.since):
		p.since = heard
	}
	return now.Sub(p.since) >= after
}

// watchPeers ends the session when one of its two peers is gone. Stop reports
// whether that was the viewer. It takes none of the relay's locks: they may be
// held by a write that waits for the peer.
func (r *relay) watchPeers(every, after time.Duration) (stop func() (viewerGone bool)) {
	viewer, desktop := newPeer(r.viewer), newPeer(r.workstation)
	var mu sync.Mutex // guards both peers and the following
	var timer *time.Timer
	var over, viewerGone bool
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(every, func() {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		switch {
		case over:
		case viewer.gone(now, after):
			viewerGone = true
			r.session.End(workstation.ReasonViewer)
		case desktop.gone(now, after):
			r.session.End(workstation.ReasonWorkstation)
		default:
			timer.Reset(every)
		}
	})
	return func() bool {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
		return viewerGone
	}
}

// abort lets go of a viewer that is gone: nothing that was sent to it is kept.
func abort(conn net.Conn) {
	lowest := transport(conn)
	if tcp, ok := lowest.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it is closed in any case
	}
	_ = lowest.Close()
}
