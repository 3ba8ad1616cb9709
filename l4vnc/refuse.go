package l4vnc

import (
	"errors"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

var notReady = &workstation.Refusal{Code: workstation.RefusedUnavailable, Text: "The gateway is not ready. Try again in a moment."}

// errGaveWay is the cause in the log where a limit made a connection end.
var errGaveWay = errors.New("max_pending or max_pending_per_network was reached, and this connection gave way to a newer one")

// refused counts and logs a connection that came to nothing.
func (d *handshake) refused(reason string, cause error) {
	d.gateway.VNCRefused(reason, d.viewer, cause)
}

// broken accounts for a connection that cannot be told anything.
func (d *handshake) broken(kind rfb.Kind, cause error) {
	if d.slot.Evicted() {
		d.refused(string(workstation.RefusedTooManyConnections), errGaveWay)
		return
	}
	d.refused(kind.String(), cause)
}

// reject tells a viewer without a live token why, as far as it still can be
// told. Only who guesses at tokens waits for that: a token that died a while ago
// is no guess.
func (d *handshake) reject(err error) {
	var refusal *workstation.Refusal
	if !errors.As(err, &refusal) {
		d.broken(rfb.KindOf(err), err)
		return
	}
	d.refused(string(refusal.Code), nil)
	if refusal.Code == workstation.RefusedUnknown {
		switch d.guess {
		case guessedToken:
			d.slot.SetStage(connlimit.Program) // nobody is typing
			d.pause(d.slot.FailedToken())
		case guessedPassword:
			d.slot.FailedPassword()
		}
	}
	_ = d.server.Refuse(refusal.Text) // it leaves anyway
}

// decline refuses a viewer whoever it is.
func (d *handshake) decline(refusal *workstation.Refusal) {
	d.refused(string(refusal.Code), nil)
	err := error(nil)
	if d.tlsFirst {
		err = d.startTLS()
	}
	if err == nil {
		_, err = d.negotiate(rfb.Offer{None: true})
	}
	if err == nil {
		_ = d.server.Refuse(refusal.Text) // it leaves anyway
	}
	hangUp(d.conn, lastWords, false)
}

// pause waits, unless the connection has to give way to another: then it returns
// false, and the connection can still be told so.
func (d *handshake) pause(wait time.Duration) bool {
	if wait <= 0 {
		return true
	}
	d.paused.Store(true)
	defer d.paused.Store(false)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-d.evicted:
		return false
	}
}

// evict ends the connection, for another that has come.
func (d *handshake) evict() {
	close(d.evicted)
	if !d.paused.Load() {
		_ = transport(d.cx).Close() // wakes whoever reads; nothing can be told in the middle of a step
	}
}
