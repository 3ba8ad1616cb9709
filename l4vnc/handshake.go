package l4vnc

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// handshake is one viewer, from its first byte to its desktop.
type handshake struct {
	*settings
	gateway vncGateway // the newest one when the viewer connected
	viewer  netip.AddrPort
	public  bool // other machines can reach the address that the viewer dialled
	half    *halfOpen

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
func (h *handshake) await(current func(context.Context) vncGateway) bool {
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
func (h *handshake) run() *relay {
	session, err := h.authenticate()
	if err != nil {
		h.reject(err)
		closeGracefully(h.conn, refusalLinger, false)
		return nil
	}
	desktop, err := h.open(session)
	if err != nil {
		session.Finish(workstation.ReasonViewer)
		closeGracefully(h.conn, refusalLinger, false)
		return nil
	}
	return newRelay(session, h.conn, desktop.Conn, h.gateway.Workstations().Policy())
}

// authenticate finds the viewer's token and begins its session. The error is a
// *workstation.Refusal, or of the protocol.
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

// open brings a viewer with a live token to its desktop. A viewer can be sent a reason only until
// it is accepted, so the workstation comes first.
func (h *handshake) open(session *vncsession.Session) (*rfb.Desktop, error) {
	pass := session.Pass
	if refusal := pass.Look(h.viewer.Addr()); refusal != nil { // without a login
		return nil, h.refuse(session, refusal, nil)
	}
	if pass.Target.TestCard && h.public {
		h.gateway.WarnOfDemo("the test card")
	}
	ctx, stop := session.Context()
	desktop, failure, err := backend{h.gateway.Workstations(), h.dial, h.times.Step}.connect(ctx, pass)
	stop()
	if err != nil {
		return nil, h.refuse(session, workstation.NewRefusal(failure), err)
	}
	if err := session.Join(); err != nil {
		_ = desktop.Conn.Close()
		refusal := workstation.NewRefusal(workstation.RefusedUnavailable)
		_ = errors.As(err, &refusal)
		return nil, h.refuse(session, refusal, err)
	}
	// From here on a release ends the session: closing the connection interrupts what waits.
	defer session.Live.OnEnd(func() { closeGracefully(h.conn, refusalLinger, false) })()
	if err := h.admit(desktop.Init); err != nil {
		_ = desktop.Conn.Close()
		return nil, err
	}
	return desktop, nil
}

// admit ends the viewer's side of the handshake.
func (h *handshake) admit(serverInit rfb.Init) error {
	if err := h.server.Accept(); err != nil {
		return err
	}
	if _, err := h.server.ClientInit(); err != nil { // on_conflict decides, not the viewer's shared flag
		return err
	}
	return h.server.ServerInit(serverInit)
}
