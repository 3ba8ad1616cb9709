package vncrelay

import (
	"net"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

const (
	// silenceLimit is how long a peer may acknowledge nothing of what was sent to it: as long as
	// keep-alive takes where nothing was sent. The system itself would wait a quarter of an hour.
	silenceLimit = 30 * time.Second
	// peerCheck is the interval between the checks of that.
	peerCheck = 5 * time.Second
)

// acknowledgements are what the system knows of a peer. A peer that answers that its window is
// closed is there: writeStall bounds it.
type acknowledgements struct {
	unanswered bool          // something was sent to it since its last sign of life
	last       time.Duration // since that
}

// peer is one end of a session, as seen by its acknowledgements. It is not safe for concurrent use.
type peer struct {
	read  func() (acknowledgements, bool) // false where the system cannot tell
	since time.Time                       // unanswered since then; zero: answered
}

// newPeer watches conn. It knows nothing of a connection that is not TCP, nor on systems without
// TCP_INFO.
func newPeer(conn net.Conn) peer {
	tcp, ok := Lowest(conn).(*net.TCPConn)
	if !ok {
		return peer{}
	}
	return peer{read: readAcknowledgements(tcp)}
}

// gone reports whether the peer is gone: it has answered nothing for after, counted from the first
// check at which an answer was due.
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

// watchPeers ends the session when one of its two peers is gone. Stop reports whether that was the
// viewer. It takes no lock that a write holds while it waits for a peer.
func watchPeers(session *desktop.Session, viewerConn, desktopConn net.Conn, every, after time.Duration) (stop func() (viewerGone bool)) {
	viewer, backend := newPeer(viewerConn), newPeer(desktopConn)
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
			session.End(desktop.ReasonViewer)
		case backend.gone(now, after):
			session.End(desktop.ReasonWorkstation)
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

// TuneTCP has the system find out soon whether a peer is there: by keep-alive within half a minute
// where nothing is on its way to it, otherwise by sending again at most retransmitMax apart.
func TuneTCP(conn net.Conn) {
	if tcp, ok := Lowest(conn).(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3})
		limitRetransmit(tcp)
	}
}
