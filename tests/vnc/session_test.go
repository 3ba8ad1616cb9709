package vnc

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// mustSucceed fails the test when a dialogue went otherwise.
func mustSucceed(h *harness.Gateway, w *harness.Conn) {
	h.T.Helper()
	if w.Err != nil {
		h.T.Fatal(w.Err)
	}
}

// closed waits for the end of a connection from the other side, however it is.
func closed(w *harness.Conn) bool {
	_, err := io.Copy(io.Discard, w)
	var timeout net.Error
	return err == nil || !errors.As(err, &timeout) || !timeout.Timeout()
}

// trusting is for names that no certificate can have: it checks that the certificate is the
// wildcard one.
func trusting(h *harness.Gateway, name string) *tls.Config {
	roots := h.VNC.Roots()
	return &tls.Config{ServerName: name, InsecureSkipVerify: true, VerifyConnection: func(state tls.ConnectionState) error {
		_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: "any." + harness.VNCDomain, Intermediates: pool(state.PeerCertificates[1:])})
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
