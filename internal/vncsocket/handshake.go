package vncsocket

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

// handshake is one browser, from the upgrade to its desktop.
type handshake struct {
	gateway vncrelay.Gateway
	key     Key
	dial    vncrelay.Dialer
	step    time.Duration
	address netip.AddrPort
	native  bool
	public  bool // other machines can reach the address that the browser dialled

	workstation string // the only one that a token may be for; "": any

	viewer *viewer
	half   *vncrelay.HalfOpen
	server *rfb.Server
}

// errEvicted is the cause in the log where a limit ended a connection.
var errEvicted = errors.New("max_pending or max_pending_per_network was reached, and this connection was closed for a newer one")

// stop lets go of the sign-in.
func (h *handshake) stop() { h.viewer.stop() }

// run takes the browser to a workstation. It returns nil if that fails: then the connection is
// closed, counted and logged, and the browser was sent why.
func (h *handshake) run() *vncrelay.Relay {
	defer h.half.Release()
	token, err := h.readToken()
	if err != nil {
		h.noToken(err)
		return nil
	}
	session, err := h.authenticate(token)
	if err != nil {
		h.reject(err)
		return nil
	}
	desktop, err := h.admission(session).Open(session, h.address.Addr())
	if err != nil {
		h.fail(session, err)
		return nil
	}
	if session.Pass.Rules.FPS == 0 && !h.native {
		session.Pass.Rules.FPS = defaultFPS
	}
	relay := vncrelay.New(session, h.viewer, desktop, h.gateway.Workstations().Policy())
	h.viewer.opened(relay)
	if !h.native {
		session.OnMove(func() { go moveSoon(relay) })
	}
	return relay
}

// readToken reads the first message.
func (h *handshake) readToken() (string, error) {
	_ = h.viewer.SetReadDeadline(time.Now().Add(TokenTime)) // a dead connection fails the read
	message, err := h.viewer.ReadMessage(maxToken)
	if err != nil {
		return "", err
	}
	return string(message), h.viewer.SetReadDeadline(time.Time{})
}

// noToken ends a connection whose first message is no token. It counts like a wrong token, but where
// the connection was lost.
func (h *handshake) noToken(cause error) {
	kind := rfb.KindGone
	switch {
	case errors.Is(cause, os.ErrDeadlineExceeded):
		kind = rfb.KindTimeout
	case errors.Is(cause, wsconn.ErrTooLong):
		kind = rfb.KindTooLong
	case errors.Is(cause, wsconn.ErrText), errors.Is(cause, wsconn.ErrFraming):
		kind = rfb.KindGarbage
	}
	h.broken(&rfb.Error{Kind: kind, Step: "reading the token", Err: cause})
	if kind != rfb.KindGone {
		h.half.Pause(h.half.FailedToken())
	}
	h.viewer.Hangup(codePolicy, "The first message is not a VNC token.")
}

// authenticate finds the browser's token and begins its session. The error is a
// *desktop.Refusal, or of the protocol.
func (h *handshake) authenticate(token string) (*vncsession.Session, error) {
	pass, refused := h.find(token)
	h.server = rfb.NewServer(h.viewer, rfb.Timeouts{Step: h.step, Person: h.step}) // nobody is asked
	if _, err := h.server.Negotiate(rfb.Offer{None: true}); err != nil {
		return nil, err
	}
	if refused != nil {
		return nil, refused
	}
	if h.half.Release(); h.half.Evicted() { // from here on it cannot be
		return nil, net.ErrClosed
	}
	pass.Withdrawn = h.viewer.signedOut
	security := Security
	if h.native {
		security = SecurityNative
	}
	return h.gateway.Open(pass, h.address, security)
}

// find returns what the token opens. To those who have not signed in with its key a token does not
// exist.
func (h *handshake) find(token string) (*desktop.Pass, error) {
	pass, err := h.gateway.Workstations().Find(token, h.address.Addr())
	if err == nil && (pass.Tenant != h.key.Tenant || pass.KeyHash != h.key.Hash || h.workstation != "" && pass.Workstation.Name != h.workstation) {
		return nil, desktop.NewRefusal(desktop.RefusedUnknown)
	}
	return pass, err
}

// reject sends a browser without a session the reason, if it still can be sent one.
func (h *handshake) reject(err error) {
	var refusal *desktop.Refusal
	if !errors.As(err, &refusal) {
		h.broken(err)
		h.viewer.Hangup(codeProtocol, "The browser did not answer as a VNC viewer.")
		return
	}
	h.gateway.Refused(string(refusal.Code), h.address, nil)
	if refusal.Code == desktop.RefusedUnknown {
		h.half.SetStage(connlimit.Program)
		h.half.Pause(h.half.FailedToken())
	}
	_ = h.server.Refuse(refusal.Text) // the connection is closed in any case
	h.viewer.Hangup(codeOf(refusal), refusal.Text)
}

// broken counts and logs a connection without a live token.
func (h *handshake) broken(cause error) {
	if h.half.Evicted() {
		h.gateway.Refused(string(desktop.RefusedTooManyConnections), h.address, errEvicted)
		return
	}
	h.gateway.Refused(rfb.KindOf(cause).String(), h.address, cause)
}

func (h *handshake) admission(session *vncsession.Session) vncrelay.Admission {
	return vncrelay.Admission{
		Gateway: h.gateway, Server: h.server, Dial: h.dial, Step: h.step, Public: h.public,
		HangUp: func() { h.viewer.hangUp(session.Live.Why(), session.Live.EndedBy()) },
	}
}

// fail ends the session of a browser that did not get to its desktop.
func (h *handshake) fail(session *vncsession.Session, err error) {
	why := desktop.ReasonViewer
	if h.viewer.signedOut() {
		why = desktop.ReasonSignedOut
	}
	session.Finish(why)
	var refusal *desktop.Refusal
	if errors.As(err, &refusal) {
		h.viewer.Hangup(codeOf(refusal), refusal.Text)
		return
	}
	h.viewer.hangUp(session.Live.Why(), "")
}
