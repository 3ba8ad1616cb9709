package tests

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
)

func init() { caddy.RegisterModule(mockIssuer{}) }

// mockCA signs the certificates of the issuer gatehouse_test; nil refuses.
var mockCA *authority

// mockIssuer stands for a public CA.
type mockIssuer struct{}

func (mockIssuer) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "tls.issuance.gatehouse_test", New: func() caddy.Module { return new(mockIssuer) }}
}

func (*mockIssuer) UnmarshalCaddyfile(d *caddyfileDispenser) error {
	d.Next()
	return nil
}

func (*mockIssuer) IssuerKey() string { return "gatehouse_test" }

func (*mockIssuer) Issue(_ context.Context, csr *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	if mockCA == nil {
		return nil, errors.New("no certificate today")
	}
	der, err := mockCA.signKey(&x509.Certificate{DNSNames: csr.DNSNames}, csr.PublicKey)
	if err != nil {
		return nil, err
	}
	return &certmagic.IssuedCertificate{Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

// certificate is what the layer-4 handler shows to a viewer that names a host.
func (h *harness) certificate(name string) (leaf *x509.Certificate, err error) {
	h.tries++
	w := h.dialVNC(fmt.Sprintf("127.0.%d.%d", 200+h.tries/250, 1+h.tries%250))
	defer w.leave()
	w.startTLSWith(&tls.Config{ServerName: name, InsecureSkipVerify: true, VerifyConnection: func(state tls.ConnectionState) error {
		leaf = state.PeerCertificates[0]
		return nil
	}})
	return leaf, w.err
}

// wantCertificate waits for one of those names that the pool trusts.
func (h *harness) wantCertificate(domain string, roots func() *x509.CertPool) {
	h.t.Helper()
	var last error
	if !eventually(func() bool {
		for _, name := range []string{"a2b3." + domain, "xx." + domain, "elsewhere.example", ""} { // for any viewer
			leaf, err := h.certificate(name)
			if err != nil {
				last = err
				return false
			}
			chain := x509.VerifyOptions{Roots: roots(), DNSName: "a2b3." + domain, Intermediates: x509.NewCertPool()}
			if pem, err := os.ReadFile(filepath.Join(h.dir, "storage", "pki", "authorities", "local", "intermediate.crt")); err == nil {
				chain.Intermediates.AppendCertsFromPEM(pem)
			}
			if _, last = leaf.Verify(chain); last != nil {
				return false
			}
			if len(leaf.DNSNames) != 1 || leaf.DNSNames[0] != "*."+domain {
				h.t.Errorf("for %q: a certificate for %v", name, leaf.DNSNames)
			}
		}
		return true
	}) {
		h.t.Fatal("no good certificate: ", last)
	}
}

// stocked are the names of the certificates in Caddy's storage.
func (h *harness) stocked() string {
	paths, _ := filepath.Glob(filepath.Join(h.dir, "storage", "certificates", "*", "*"))
	for i, path := range paths {
		paths[i] = filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path)
	}
	return strings.Join(paths, " ")
}

func TestVNCAPrivateDomainGetsTheInternalCAsWildcard(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := start(t, setup{vnc: d.as("one", "")})
	h.wantCertificate(vncDomain, h.roots)
	w := h.view(h.issue("connect", "one", ""))
	w.leave()
	if got := h.stocked(); got != "local/wildcard_.vnc.localhost" { // one for each token would publish the tokens
		t.Errorf("certificates: %s", got)
	}
}

func TestVNCAPublicDomainFollowsTheUsersPolicy(t *testing.T) {
	mockCA = newAuthority(t)
	d := newVNCServer(t, asNone)
	h := start(t, setup{global: "cert_issuer gatehouse_test", vnc: "domain vnc.example.com\n" + d.as("one", "")})
	h.wantCertificate("vnc.example.com", func() *x509.CertPool { return pool([]*x509.Certificate{mockCA.cert}) })
	if got := h.stocked(); got != "gatehouse_test/wildcard_.vnc.example.com" {
		t.Errorf("certificates: %s", got)
	}
}

func TestVNCAPrivateDomainGetsTheInternalCAUnderAPolicyForAllNames(t *testing.T) {
	mockCA = nil
	for _, policy := range []string{"cert_issuer gatehouse_test", "email ops@example.com\nacme_ca https://127.0.0.1:1/directory"} {
		d := newVNCServer(t, asNone)
		h := start(t, setup{global: policy, vnc: d.as("one", "")})
		h.wantCertificate(vncDomain, h.roots)
		w := h.view(h.issue("connect", "one", ""))
		w.leave()
		h.stop()
	}
}

func TestVNCOwnFilesAreUsed(t *testing.T) {
	ca := newAuthority(t)
	leaf := ca.leaf("*." + vncDomain)
	leaf.Leaf = nil
	dir := t.TempDir()
	key, err := x509.MarshalPKCS8PrivateKey(leaf.PrivateKey)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Certificate[0]}), 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	d := newVNCServer(t, asNone)
	h := start(t, setup{vnc: d.as("one", "")})
	h.change(h.caddyfile(setup{vnc: d.as("one", "")}) + "https://*." + vncDomain + ":HTTPS_PORT {\nbind 127.0.0.1\ntls " + dir + "/cert.pem " + dir + "/key.pem\n}\n")
	h.wantCertificate(vncDomain, func() *x509.CertPool { return pool([]*x509.Certificate{ca.cert}) })
}

func TestVNCADomainWithAHyphenIsWarnedAbout(t *testing.T) {
	h := start(t, setup{vnc: "domain vnc-desks.localhost\nworkstation demo {\ntest_card\n}"})
	lines := h.logLines("has a hyphen")
	if len(lines) != 1 || !strings.Contains(lines[0], `"level":"warn"`) || !strings.Contains(lines[0], "TigerVNC") {
		t.Errorf("lines %q", lines)
	}
	h.wantCertificate("vnc-desks.localhost", h.roots)
}
