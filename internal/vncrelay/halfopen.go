package vncrelay

import (
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
)

// HalfOpen is a connection without a good token so far. Where a limit is reached, it is evicted for
// a newer one, which closes it. While it pauses, eviction only ends the pause.
type HalfOpen struct {
	*connlimit.Slot
	socket  net.Conn
	evicted chan struct{}
	pausing atomic.Bool
}

// NewHalfOpen counts a connection from viewer as half open until Release. It is closed by socket.
func NewHalfOpen(limiter *connlimit.Limiter, viewer netip.Addr, limits connlimit.Limits, socket net.Conn) *HalfOpen {
	h := &HalfOpen{socket: socket, evicted: make(chan struct{})}
	h.Slot = limiter.Acquire(viewer, limits, h.evict)
	return h
}

func (h *HalfOpen) evict() {
	close(h.evicted)
	if !h.pausing.Load() {
		_ = h.socket.Close() // wakes the reader; no reason can be sent in the middle of a step
	}
}

// Pause waits. It returns false where the connection is evicted meanwhile; the viewer can still be
// sent a reason then.
func (h *HalfOpen) Pause(wait time.Duration) bool {
	if wait <= 0 {
		return true
	}
	h.pausing.Store(true)
	defer h.pausing.Store(false)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-h.evicted:
		return false
	}
}
