package l4vnc

import (
	"crypto/rand"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"

	"github.com/mholt/caddy-l4/layer4"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// handshake is one viewer, from its first byte to its session.
type handshake struct {
	*Handler
	gateway *gateway.Gateway // current when the viewer connected
	viewer  netip.AddrPort
	public  bool // it came by an address that others than this machine can reach

	slot *connlimit.Slot
	// evicted is closed when the connection must give way to another. That ends
	// a pause, if paused is set, and otherwise closes the connection.
	evicted chan struct{}
	paused  atomic.Bool

	cx   *layer4.Connection // as it was handed over
	conn net.Conn           // the viewer's, with TLS once there is some

	tlsFirst      bool   // TLS came before RFB
	tlsTerminated bool   // by an earlier handler
	name          string // the server name of that TLS

	guess   guess
	server  *rfb.Server
	session *vncsession.Session // set when a session is open
	desktop *rfb.Desktop
}

// guess is what the viewer showed and may have guessed.
type guess uint8

const (
	noGuess guess = iota
	guessedToken
	guessedPassword // the first characters of a token
)

// run takes the viewer to a workstation. On return there is an open session,
// or the connection is closed and accounted for.
func (d *handshake) run() {
	defer func() {
		if d.session == nil {
			hangUp(d.conn, lastWords, false)
		}
	}()
	pass, security, err := d.identify()
	if err == nil {
		if d.slot.Release(); d.slot.Evicted() { // it can be evicted no more
			err = net.ErrClosed
		}
	}
	if err != nil {
		d.reject(err)
		return
	}
	session, err := d.gateway.OpenVNC(pass, d.viewer, security)
	if err != nil {
		d.reject(err)
		return
	}
	if err := d.open(session); err != nil {
		session.Finish(workstation.ReasonViewer)
		return
	}
	d.session = session
}

// identify negotiates with the viewer and finds its token. The error is a
// *workstation.Refusal, or of the protocol.
func (d *handshake) identify() (*workstation.Pass, string, error) {
	if d.tlsFirst {
		return d.identifyByTLS()
	}
	vncAuth := d.gateway.Workstations().Policy().VNCAuth
	proof, err := d.negotiate(rfb.Offer{
		SubTypes: subTypes(vncAuth), VNCAuth: vncAuth, TLS: d.tls, Challenge: challenge,
		// libvncclient takes the first encrypted type it knows and sends no
		// name, but it reconnects: then it is asked for a password.
		PasswordFirst: func() bool { return d.gateway.ConnLimiter().TakeNameless(d.viewer.Addr()) },
	})
	if err != nil {
		return nil, "", err
	}
	pass, err := d.find(proof)
	return pass, proof.Security.String(), err
}

// negotiate greets the viewer and goes on inside TLS, if that comes of it.
func (d *handshake) negotiate(o rfb.Offer) (rfb.Proof, error) {
	o.OnPerson = func() { d.slot.SetStage(connlimit.Person) }
	d.server = rfb.NewServer(d.conn, d.times)
	proof, err := d.server.Negotiate(o)
	d.conn = d.server.Conn()
	return proof, err
}

// subTypes are what VeNCrypt offers, the preferred one first.
func subTypes(vncAuth bool) []rfb.SubType {
	if vncAuth {
		return []rfb.SubType{rfb.X509None, rfb.X509Plain, rfb.X509Vnc}
	}
	return []rfb.SubType{rfb.X509None, rfb.X509Plain}
}

func challenge() (c [16]byte) {
	_, _ = rand.Read(c[:]) // never fails (crypto/rand)
	return c
}

// securityTLSFirst names what RFB itself would call None.
const securityTLSFirst = "TLSFirst"

// identifyByTLS is for viewers behind a TLS wrapper: inside, RFB without a
// password where the server name has said it all, else with one.
func (d *handshake) identifyByTLS() (*workstation.Pass, string, error) {
	if err := d.startTLS(); err != nil {
		return nil, "", err
	}
	service := d.gateway.Workstations()
	offer := rfb.Offer{None: true}
	if !service.HasTokenForm(d.name) {
		offer.SubTypes, offer.TLS = []rfb.SubType{rfb.Plain, rfb.X509Plain}, d.tls
		offer.VNCAuth, offer.Challenge = service.Policy().VNCAuth, challenge
	}
	proof, err := d.negotiate(offer)
	if err != nil {
		return nil, "", err
	}
	if proof.Security != rfb.SecurityNone {
		pass, err := d.find(proof)
		return pass, securityTLSFirst + proof.Security.String(), err
	}
	if d.name == "" {
		return nil, securityTLSFirst, workstation.NewRefusal(workstation.RefusedNoServerName)
	}
	pass, err := d.byName(d.name)
	return pass, securityTLSFirst, err
}

// startTLS does the TLS that comes before RFB, unless another handler has.
func (d *handshake) startTLS() error {
	if d.tlsTerminated {
		return nil
	}
	conn, name, err := rfb.TLSFirst(d.conn, d.tls, d.times.Step)
	if err == nil {
		d.conn, d.name = conn, name
	}
	return err
}

// find finds the live token of what the viewer has shown. A good server name
// decides; otherwise the password does.
func (d *handshake) find(proof rfb.Proof) (*workstation.Pass, error) {
	if proof.ServerName != "" {
		pass, err := d.byName(proof.ServerName)
		if err == nil || proof.Security == rfb.SecurityX509None {
			return pass, err
		}
	}
	service, address := d.gateway.Workstations(), d.viewer.Addr()
	switch proof.Security {
	case rfb.SecurityX509Plain, rfb.SecurityPlain:
		label := service.TypedLabel(proof.Password)
		if prefix, ok := service.TypedPrefix(label); ok {
			return d.byPassword(func() (*workstation.Pass, error) { return service.FindByPrefix(prefix, address) })
		}
		d.guess = guessedToken
		return service.Find(label, address)
	case rfb.SecurityVNCAuth, rfb.SecurityX509Vnc:
		return d.byPassword(func() (*workstation.Pass, error) {
			return service.FindByMatch(func(prefix string) bool {
				return rfb.VerifyVNC(proof.Challenge, proof.Response, prefix)
			}, address)
		})
	}
	d.gateway.ConnLimiter().AddNameless(address)
	return nil, workstation.NewRefusal(workstation.RefusedNoServerName)
}

func (d *handshake) byName(name string) (*workstation.Pass, error) {
	service := d.gateway.Workstations()
	label, ok := service.Label(name)
	if ok { // what is no label is no token either, so nobody guesses by it
		d.guess = guessedToken
	}
	return service.Find(label, d.viewer.Addr())
}

// byPassword finds a token by its first characters. They are so few that a network
// with many wrong ones waits before the next is judged.
func (d *handshake) byPassword(find func() (*workstation.Pass, error)) (*workstation.Pass, error) {
	wait, ok := d.slot.PasswordDelay()
	if !ok {
		return nil, workstation.NewRefusal(workstation.RefusedTooManyFailures)
	}
	if !d.pause(wait) {
		return nil, workstation.NewRefusal(workstation.RefusedTooManyConnections)
	}
	d.guess = guessedPassword
	return find()
}

// open brings the viewer from its token to its desktop.
func (d *handshake) open(session *vncsession.Session) error {
	if refused := d.gateway.Workstations().Look(session.Pass, d.viewer.Addr()); refused != nil { // before the workstation is troubled
		return d.refuse(session, refused, nil)
	}
	desktop, failure, err := d.reach(session)
	if err != nil {
		return d.refuse(session, workstation.NewRefusal(failure), err)
	}
	if err := session.Join(); err != nil {
		_ = desktop.Conn.Close()
		refused := workstation.NewRefusal(workstation.RefusedUnavailable)
		_ = errors.As(err, &refused)
		return d.refuse(session, refused, err)
	}
	// From here on a release ends the session, by interrupting what waits.
	stop := session.Live.OnEnd(func() { hangUp(d.conn, lastWords, false) })
	defer stop()
	err = d.server.Accept()
	if err == nil {
		_, err = d.server.ClientInit() // the shared flag is ours to decide
	}
	if err == nil {
		err = d.server.ServerInit(desktop.Init)
	}
	if err != nil {
		_ = desktop.Conn.Close()
		return err
	}
	d.desktop = desktop
	return nil
}

// refuse tells the viewer why it is not let in, and returns that.
func (d *handshake) refuse(session *vncsession.Session, why *workstation.Refusal, cause error) error {
	session.Refuse(why, cause)
	_ = d.server.Refuse(why.Text) // it leaves anyway
	return why
}
