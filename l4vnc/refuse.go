package l4vnc

import (
	"errors"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

var notReady = &desktop.Refusal{Code: desktop.RefusedUnavailable, Text: "The gateway is not ready. Try again in a moment."}

// errEvicted is the cause in the log where a limit ended a connection.
var errEvicted = errors.New("max_pending or max_pending_per_network was reached, and this connection was closed for a newer one")

// broken counts and logs a connection to which no reason can be sent.
func (h *handshake) broken(cause error) {
	if h.half.Evicted() {
		h.gateway.Refused(string(desktop.RefusedTooManyConnections), h.viewer, errEvicted)
		return
	}
	h.gateway.Refused(rfb.KindOf(cause).String(), h.viewer, cause)
}

// reject sends a viewer without a live token the reason, if it still can be sent one. Only a viewer
// that guesses at tokens waits for it: a token that was live a while ago is no guess.
func (h *handshake) reject(err error) {
	var refusal *desktop.Refusal
	if !errors.As(err, &refusal) {
		h.broken(err)
		return
	}
	h.gateway.Refused(string(refusal.Code), h.viewer, nil)
	if refusal.Code == desktop.RefusedUnknown {
		switch h.guess {
		case guessedToken:
			h.half.SetStage(connlimit.Program) // nobody is typing
			h.half.Pause(h.half.FailedToken())
		case guessedPassword:
			h.half.FailedPassword()
		}
	}
	_ = h.server.Refuse(refusal.Text) // the connection is closed in any case
}

// decline refuses any viewer.
func (h *handshake) decline(refusal *desktop.Refusal) {
	h.gateway.Refused(string(refusal.Code), h.viewer, nil)
	err := error(nil)
	if h.tlsFirst {
		err = h.startTLS()
	}
	if err == nil {
		_, err = h.negotiate(rfb.Offer{None: true})
	}
	if err == nil {
		_ = h.server.Refuse(refusal.Text) // the connection is closed in any case
	}
	closeGracefully(h.conn, refusalLinger, false)
}
