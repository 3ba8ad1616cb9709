package vncrelaytest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// Certificate is one for all names right below the domain, signed by itself.
var Certificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"*." + Domain}, NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<37, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
})

// Roots trusts the Certificate.
func Roots() *x509.CertPool {
	leaf, err := x509.ParseCertificate(Certificate().Certificate[0])
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return pool
}

// ClientTLS trusts the certificate for the names below the domain; no other name can be verified.
func ClientTLS(name string) *tls.Config {
	config := &tls.Config{RootCAs: Roots(), ServerName: name}
	label, below := strings.CutSuffix(name, "."+Domain)
	config.InsecureSkipVerify = !below || strings.Contains(label, ".")
	return config
}

// Loopback is a TCP connection of this machine.
func Loopback(t *testing.T) (ours, theirs *net.TCPConn) {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if theirs, err = net.DialTCP("tcp", nil, listener.Addr().(*net.TCPAddr)); err != nil {
		t.Fatal(err)
	}
	if ours, err = listener.AcceptTCP(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
	return ours, theirs
}

// Bells is a workstation that sends the message Bell (RFC 6143, section 7.6.3) until the end of the
// gateway's side of the connection and a little longer, and then closes it. A reset is an error.
func Bells(workstation net.Conn) error {
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, workstation); ended <- err }()
	bells := bytes.Repeat([]byte{2}, 64<<10)
	for {
		if _, err := workstation.Write(bells); err != nil {
			return err
		}
		select {
		case err := <-ended:
			_, later := workstation.Write(bells)
			return errors.Join(err, later, workstation.Close())
		default:
		}
	}
}
