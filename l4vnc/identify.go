package l4vnc

import (
	"crypto/rand"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// securityTLSFirst names what RFB itself would call None.
const securityTLSFirst = "TLSFirst"

// identify negotiates with the viewer and finds its token. security names how the viewer showed it.
// The error is a *desktop.Refusal, or of the protocol.
func (h *handshake) identify() (pass *desktop.Pass, security string, err error) {
	if h.tlsFirst {
		return h.identifyInsideTLS()
	}
	vncAuth := h.gateway.Workstations().Policy().VNCAuth
	proof, err := h.negotiate(rfb.Offer{
		SubTypes: subTypes(vncAuth), VNCAuth: vncAuth, TLS: h.tls, Challenge: challenge,
		// libvncclient takes the first encrypted type it knows and sends no name, but it
		// reconnects: then it is asked for a password.
		PasswordFirst: func() bool { return h.gateway.ConnLimiter().TakeNameless(h.viewer.Addr()) },
	})
	if err != nil {
		return nil, "", err
	}
	pass, err = h.find(proof)
	return pass, proof.Security.String(), err
}

// identifyInsideTLS is for viewers behind a TLS wrapper. Inside is RFB: without a password where
// the server name can be a token, otherwise with one.
func (h *handshake) identifyInsideTLS() (pass *desktop.Pass, security string, err error) {
	if err := h.startTLS(); err != nil {
		return nil, "", err
	}
	policy := h.gateway.Workstations().Policy()
	offer := rfb.Offer{None: true}
	if !policy.HasTokenForm(h.serverName) {
		offer.SubTypes, offer.TLS = []rfb.SubType{rfb.Plain, rfb.X509Plain}, h.tls
		offer.VNCAuth, offer.Challenge = policy.VNCAuth, challenge
	}
	proof, err := h.negotiate(offer)
	if err != nil {
		return nil, "", err
	}
	if proof.Security != rfb.SecurityNone {
		pass, err = h.find(proof)
		return pass, securityTLSFirst + proof.Security.String(), err
	}
	if h.serverName == "" {
		return nil, securityTLSFirst, desktop.NewRefusal(desktop.RefusedNoServerName)
	}
	pass, err = h.findByName(h.serverName)
	return pass, securityTLSFirst, err
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

// find finds the live token of what the viewer has shown. A good server name decides; otherwise the
// password does.
func (h *handshake) find(proof rfb.Proof) (*desktop.Pass, error) {
	if proof.ServerName != "" {
		pass, err := h.findByName(proof.ServerName)
		if err == nil || proof.Security == rfb.SecurityX509None {
			return pass, err
		}
	}
	service, address := h.gateway.Workstations(), h.viewer.Addr()
	switch proof.Security {
	case rfb.SecurityX509Plain, rfb.SecurityPlain:
		policy := service.Policy()
		label := policy.TypedLabel(proof.Password)
		if prefix, ok := policy.TypedPrefix(label); ok {
			return h.findByPassword(func() (*desktop.Pass, error) { return service.FindByPrefix(prefix, address) })
		}
		h.guess = guessedToken
		return service.Find(label, address)
	case rfb.SecurityVNCAuth, rfb.SecurityX509Vnc:
		return h.findByPassword(func() (*desktop.Pass, error) {
			return service.FindByMatch(func(prefix string) bool {
				return rfb.VerifyVNC(proof.Challenge, proof.Response, prefix)
			}, address)
		})
	}
	h.gateway.ConnLimiter().AddNameless(address)
	return nil, desktop.NewRefusal(desktop.RefusedNoServerName)
}

func (h *handshake) findByName(name string) (*desktop.Pass, error) {
	service := h.gateway.Workstations()
	label, ok := service.Policy().Label(name)
	if ok { // a name that is no label can be no token, so it is no guess either
		h.guess = guessedToken
	}
	return service.Find(label, h.viewer.Addr())
}

// findByPassword finds a token by its first characters. They are so few that a network with many
// wrong ones waits before the next is checked.
func (h *handshake) findByPassword(find func() (*desktop.Pass, error)) (*desktop.Pass, error) {
	wait, ok := h.half.PasswordDelay()
	if !ok {
		return nil, desktop.NewRefusal(desktop.RefusedTooManyFailures)
	}
	if !h.half.Pause(wait) {
		return nil, desktop.NewRefusal(desktop.RefusedTooManyConnections)
	}
	h.guess = guessedPassword
	return find()
}
