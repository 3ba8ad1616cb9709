package tests

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
)

// tlsFirst comes as a viewer behind a TLS wrapper does, up to the result.
func (h *harness) tlsFirst(name string) *wire { return h.tlsFirstFrom(ownAddress, name) }

func (h *harness) tlsFirstFrom(from, name string) *wire {
	w := h.dialVNC(from).startTLS(name)
	return w.hear("RFB 003.008\n").say("RFB 003.008\n").hear(1, 1).say(1)
}

// view opens a session and sees that it works.
func (h *harness) view(a address) *wire {
	h.t.Helper()
	w := h.tlsFirst(a.host).accepted().echo(7, 9)
	h.t.Cleanup(w.leave)
	h.good(w)
	return w
}

// good fails the test when a dialogue went otherwise.
func (h *harness) good(w *wire) {
	h.t.Helper()
	if w.err != nil {
		h.t.Fatal(w.err)
	}
}

// closed waits for the end of a connection from the other side, however it is.
func (w *wire) closed() bool {
	_, err := io.Copy(io.Discard, w)
	var timeout net.Error
	return err == nil || !errors.As(err, &timeout) || !timeout.Timeout()
}

// trusting is for names that no certificate can have: it checks that the certificate is the
// wildcard one.
func (h *harness) trusting(name string) *tls.Config {
	roots := h.roots()
	return &tls.Config{ServerName: name, InsecureSkipVerify: true, VerifyConnection: func(state tls.ConnectionState) error {
		_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: "any." + vncDomain, Intermediates: pool(state.PeerCertificates[1:])})
		return err
	}}
}

func pool(certificates []*x509.Certificate) *x509.CertPool {
	p := x509.NewCertPool()
	for _, c := range certificates {
		p.AddCert(c)
	}
	return p
}
