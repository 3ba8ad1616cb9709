package l4vnc

import (
	"context"
	"net"
	"net/netip"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

// handshake is one viewer, from its first byte to its desktop.
type handshake struct {
	*settings
	gateway vncrelay.Gateway // the newest one when the viewer connected
	viewer  netip.AddrPort
	public  bool // other machines can reach the address that the viewer dialled
	half    *vncrelay.HalfOpen

	opening // its conn goes on with TLS once there is some
	server  *rfb.Server
	guess   guess
}

// guess is what the viewer showed that it may have guessed.
type guess uint8

const (
	noGuess guess = iota
	guessedToken
	guessedPassword // the first characters of a token
)

// await waits for the gateway and takes the current one: Caddy starts its apps in no fixed order.
func (h *handshake) await(current func(context.Context) vncrelay.Gateway) bool {
	ctx, cancel := context.WithTimeout(context.Background(), h.times.Step)
	defer cancel()
	g := current(ctx)
	if g == nil {
		return false
	}
	h.gateway = g
	return true
}

// run takes the viewer to a workstation. It returns nil if that fails: then the connection is
// closed, counted and logged, and the viewer was sent the reason if its protocol allows one.
func (h *handshake) run() *vncrelay.Relay {
	session, err := h.authenticate()
	if err != nil {
		h.reject(err)
		closeGracefully(h.conn, refusalLinger, false)
		return nil
	}
	backend, err := h.admission().Open(session, h.viewer.Addr())
	if err != nil {
		session.Finish(desktop.ReasonViewer)
		closeGracefully(h.conn, refusalLinger, false)
		return nil
	}
	return vncrelay.New(session, viewer{h.conn}, backend, h.gateway.Workstations().Policy())
}

// authenticate finds the viewer's token and begins its session. The error is a
// *desktop.Refusal, or of the protocol.
func (h *handshake) authenticate() (*vncsession.Session, error) {
	pass, security, err := h.identify()
	if err != nil {
		return nil, err
	}
	if h.half.Release(); h.half.Evicted() { // from here on it cannot be
		return nil, net.ErrClosed
	}
	return h.gateway.Open(pass, h.viewer, security)
}

// negotiate greets the viewer and continues inside TLS where that is agreed.
func (h *handshake) negotiate(o rfb.Offer) (rfb.Proof, error) {
	o.OnPerson = func() { h.half.SetStage(connlimit.Person) }
	h.server = rfb.NewServer(h.conn, h.times)
	proof, err := h.server.Negotiate(o)
	h.conn = h.server.Conn()
	return proof, err
}

// startTLS does the TLS that comes before RFB, unless an earlier handler has.
func (h *handshake) startTLS() error {
	if h.terminated {
		return nil
	}
	conn, name, err := rfb.TLSFirst(h.conn, h.tls, h.times.Step)
	if err == nil {
		h.conn, h.serverName = conn, name
	}
	return err
}

// admission brings a viewer with a live token to its desktop.
func (h *handshake) admission() vncrelay.Admission {
	return vncrelay.Admission{
		Gateway: h.gateway, Server: h.server, Dial: h.dial, Step: h.times.Step, Public: h.public,
		HangUp: func() { closeGracefully(h.conn, refusalLinger, false) },
	}
}
