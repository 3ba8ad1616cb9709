package l4vnc

import (
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"time"

	"github.com/mholt/caddy-l4/layer4"
	"github.com/mholt/caddy-l4/modules/l4tls"

	"github.com/gatehouse-proxy/gatehouse/internal/fault"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// door is one viewer at the door.
type door struct {
	*Handler
	gateway *gateway.Gateway // in force when the viewer came
	viewer  netip.AddrPort
	public  bool // it came by an address that others than this machine can reach

	conn     net.Conn // the viewer's, with TLS once there is some
	tlsFirst bool     // TLS came before RFB,
	name     string   // naming this server,
	ended    bool     // and another handler has ended it already

	server  *rfb.Server
	visit   *gateway.Visit // set when a session is open
	desktop *rfb.Desktop
}

// Reasons of refusals that are neither of the protocol nor of a token.
const (
	reasonCrowded = "too_many_connections"
	reasonNoName  = "no_server_name"
)

// Records of a TLS connection begin with their type (RFC 8446, 5.1).
const tlsHandshakeRecord = 0x16

// arrive finds out how the viewer speaks: false when it is gone or speaks
// something else.
func (d *door) arrive(cx *layer4.Connection) bool {
	if !d.slowDown() {
		return false
	}
	if states := l4tls.GetConnectionStates(cx); len(states) > 0 {
		d.conn, d.tlsFirst, d.ended, d.name = cx, true, true, states[len(states)-1].ServerName
		return true
	}
	conn := bare(cx)
	keepAlive(conn)
	d.conn = conn
	if d.TLSFirstWait < 0 {
		return true
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Duration(d.TLSFirstWait))) // of a dead connection the read tells
	first := make([]byte, 1)
	_, err := io.ReadFull(conn, first)
	_ = conn.SetReadDeadline(time.Time{})
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return true // silent: it waits to be greeted
	case err != nil:
		d.refused(rfb.KindGone.String(), err)
		return false
	case first[0] == tlsHandshakeRecord:
		d.conn, d.tlsFirst = rfb.Replay(conn, first), true
		return true
	}
	d.stranger(conn, first[0])
	return false
}

// slowDown lets the addresses with too many failures wait. It never bans: a
// viewer that retries for ever (Remmina) must come in with the right password.
func (d *door) slowDown() bool {
	wait, ok := d.gateway.Visitors().Delay(d.viewer.Addr())
	if !ok {
		d.gateway.VNCRefused(reasonCrowded, d.viewer, nil)
		return false
	}
	if wait > 0 {
		time.Sleep(wait)
	}
	return true
}

// stranger is a client that speaks first and no TLS. One of HTTP gets an answer
// that its user can read.
func (d *door) stranger(conn net.Conn, first byte) {
	kind := rfb.KindGarbage
	if first >= 'A' && first <= 'Z' && first != 'R' {
		kind = rfb.KindHTTP
		_ = conn.SetWriteDeadline(time.Now().Add(d.times.Step))
		_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"+
			"This port speaks VNC. Start a VNC viewer with this address.\n") // it may be gone
	}
	d.gateway.Visitors().Fail(d.viewer.Addr())
	d.refused(kind.String(), errors.New("the first byte is neither TLS nor silence"))
	hangUp(conn, lastWords, false)
}

// refused counts and logs a connection that came to nothing.
func (d *door) refused(reason string, cause error) { d.gateway.VNCRefused(reason, d.viewer, cause) }

// enter takes the viewer to a workstation. On return there is an open session,
// or the connection is closed and accounted for.
func (d *door) enter() {
	defer func() {
		if d.visit == nil {
			hangUp(d.conn, lastWords, false)
		}
	}()
	pass, security, err := d.identify()
	if err != nil {
		d.turnAway(err)
		return
	}
	visit, err := d.gateway.Visit(pass, d.viewer, security)
	if err != nil {
		refusal := fault.From(err)
		_ = d.server.Refuse(refusal.Message) // it leaves anyway
		d.refused(string(refusal.Code), err)
		return
	}
	if err := d.open(visit); err != nil {
		visit.Finish(workstation.ReasonViewer)
		return
	}
	d.visit = visit
}

// turnAway tells a viewer without a live token why, as far as it still can be told.
func (d *door) turnAway(err error) {
	var refusal *workstation.Refusal
	if !errors.As(err, &refusal) {
		switch kind := rfb.KindOf(err); kind {
		case rfb.KindGone: // a port scan, a health check
		case rfb.KindTLS: // a person who does not trust the certificate; ours may not be there yet
		default:
			d.gateway.Visitors().Fail(d.viewer.Addr())
		}
		d.refused(rfb.KindOf(err).String(), err)
		return
	}
	_ = d.server.Refuse(refusal.Text) // it leaves anyway
	switch refusal.Code {
	case reasonNoName, workstation.RefusedUnavailable, workstation.RefusedPinned: // no guess at a token
	default:
		d.gateway.Visitors().Fail(d.viewer.Addr())
	}
	d.refused(string(refusal.Code), nil)
}

// identify negotiates with the viewer and finds its token. The error is a
// *workstation.Refusal, or of the protocol.
func (d *door) identify() (*workstation.Pass, string, error) {
	if d.tlsFirst {
		return d.identifyByTLS()
	}
	address := d.viewer.Addr()
	lacksName, vncAuth := d.gateway.Visitors().LacksName(address), d.gateway.Desk().Policy().VNCAuth
	d.server = rfb.NewServer(d.conn, d.times)
	proof, err := d.server.Negotiate(rfb.Offer{
		SubTypes: subTypes(lacksName, vncAuth), VNCAuth: vncAuth, TLS: d.tls, Challenge: challenge,
	})
	d.conn = d.server.Conn()
	if err != nil {
		return nil, "", err
	}
	pass, err := d.find(proof)
	return pass, proof.Security.String(), err
}

// subTypes are what VeNCrypt offers, the preferred one first. An address that
// just came without a server name is asked for a password: libvncclient takes
// the first encrypted type it knows and sends no name, but it reconnects.
func subTypes(lacksName, vncAuth bool) []rfb.SubType {
	switch {
	case lacksName && vncAuth:
		return []rfb.SubType{rfb.X509Plain, rfb.X509Vnc, rfb.X509None}
	case lacksName:
		return []rfb.SubType{rfb.X509Plain, rfb.X509None}
	case vncAuth:
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
// password, since the name has said it all.
func (d *door) identifyByTLS() (*workstation.Pass, string, error) {
	if !d.ended {
		conn, name, err := rfb.TLSFirst(d.conn, d.tls, d.times.Step)
		if err != nil {
			return nil, "", err
		}
		d.conn, d.name = conn, name
	}
	d.server = rfb.NewServer(d.conn, d.times)
	if _, err := d.server.Negotiate(rfb.Offer{None: true}); err != nil {
		return nil, "", err
	}
	pass, err := d.byName(d.name)
	return pass, securityTLSFirst, err
}

// find finds the live token of what the viewer has shown. A good server name
// decides; otherwise the password does.
func (d *door) find(proof rfb.Proof) (*workstation.Pass, error) {
	if proof.ServerName != "" {
		pass, err := d.byName(proof.ServerName)
		if err == nil || proof.Security == rfb.SecurityX509None {
			return pass, err
		}
	}
	desk, address := d.gateway.Desk(), d.viewer.Addr()
	switch proof.Security {
	case rfb.SecurityX509Plain:
		return desk.FindTyped(proof.Password, address)
	case rfb.SecurityVNCAuth, rfb.SecurityX509Vnc:
		return desk.FindByPrefix(func(prefix string) bool {
			return rfb.VerifyVNC(proof.Challenge, proof.Response, prefix)
		}, address)
	}
	d.gateway.Visitors().SentNoName(address)
	return nil, &workstation.Refusal{Code: reasonNoName, Text: "Your viewer did not send the host name. " +
		"Connect again and enter the first part of the VNC address (before the first dot) as the password."}
}

func (d *door) byName(name string) (*workstation.Pass, error) {
	desk := d.gateway.Desk()
	label, _ := desk.Label(name) // what is no label is no token either
	return desk.Find(label, d.viewer.Addr())
}

// open brings the viewer from its token to its desktop.
func (d *door) open(visit *gateway.Visit) error {
	if refused := d.gateway.Desk().Look(visit.Pass); refused != nil { // before the workstation is troubled
		visit.Refuse(string(refused.Code), http.StatusForbidden, nil)
		_ = d.server.Refuse(refused.Text) // it leaves anyway
		return refused
	}
	desktop, refusal, err := d.reach(visit)
	if err != nil {
		visit.Refuse(refusal.code, http.StatusBadGateway, err)
		_ = d.server.Refuse(refusal.text) // it leaves anyway
		return err
	}
	if err := visit.Join(); err != nil {
		_ = desktop.Conn.Close()
		refused := &workstation.Refusal{Code: workstation.RefusedUnavailable, Text: unreachable.text}
		_ = errors.As(err, &refused)
		visit.Refuse(string(refused.Code), http.StatusForbidden, err)
		_ = d.server.Refuse(refused.Text) // it leaves anyway
		return err
	}
	// From here on a release ends the session, by interrupting what waits.
	stop := visit.Session.OnEnd(func() { hangUp(d.conn, lastWords, false) })
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
