package vnc

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// authority signs the certificates of a test's workstations.
type authority struct {
	t    *testing.T
	file string // its own certificate
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	ca := &authority{t: t, file: filepath.Join(t.TempDir(), "ca.pem")}
	der, _ := ca.sign(&x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	cert, err := x509.ParseCertificate(der)
	if err == nil {
		err = os.WriteFile(ca.file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	ca.cert = cert
	return ca
}

// sign makes a certificate and its key; an authority without one signs itself.
func (ca *authority) sign(template *x509.Certificate) ([]byte, *ecdsa.PrivateKey) {
	ca.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		ca.t.Fatal(err)
	}
	if ca.key == nil {
		ca.key = key
	}
	der, err := ca.signKey(template, &key.PublicKey)
	if err != nil {
		ca.t.Fatal(err)
	}
	return der, key
}

func (ca *authority) signKey(template *x509.Certificate, public any) ([]byte, error) {
	template.SerialNumber, template.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: "a test's"}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent := ca.cert
	if parent == nil {
		parent = template
	}
	return x509.CreateCertificate(rand.Reader, template, parent, public, ca.key)
}

// leaf is a server's certificate for the names, of which the loopback address is one.
func (ca *authority) leaf(names ...string) tls.Certificate {
	der, key := ca.sign(&x509.Certificate{DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// pin is a certificate's key as pinned_key has it.
func pin(t *testing.T, c tls.Certificate) string {
	t.Helper()
	parsed, err := x509.ParseCertificate(c.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return "sha256:" + harness.SHA256(string(parsed.RawSubjectPublicKeyInfo))
}
