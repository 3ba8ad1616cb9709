package vnc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/certmagic"

	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func init() { caddy.RegisterModule(mockIssuer{}) }

// mockCA signs the certificates of the issuer gatehouse_test; nil refuses.
var mockCA *authority

// mockIssuer stands for a public CA.
type mockIssuer struct{}

func (mockIssuer) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "tls.issuance.gatehouse_test", New: func() caddy.Module { return new(mockIssuer) }}
}

func (*mockIssuer) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
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
func certificate(h *harness.Gateway, name string) (leaf *x509.Certificate, err error) {
	w := h.VNC.DialFresh()
	defer w.Leave()
	w.StartTLSWith(&tls.Config{ServerName: name, InsecureSkipVerify: true, VerifyConnection: func(state tls.ConnectionState) error {
		leaf = state.PeerCertificates[0]
		return nil
	}})
	return leaf, w.Err
}

// wantCertificate waits for one of those names that the pool trusts.
func wantCertificate(h *harness.Gateway, domain string, roots func() *x509.CertPool) {
	h.T.Helper()
	var last error
	if !harness.Eventually(func() bool {
		for _, name := range []string{"a2b3." + domain, "xx." + domain, "elsewhere.example", ""} { // for any viewer
			leaf, err := certificate(h, name)
			if err != nil {
				last = err
				return false
			}
			chain := x509.VerifyOptions{Roots: roots(), DNSName: "a2b3." + domain, Intermediates: x509.NewCertPool()}
			if pem, err := os.ReadFile(filepath.Join(h.Dir, "storage", "pki", "authorities", "local", "intermediate.crt")); err == nil {
				chain.Intermediates.AppendCertsFromPEM(pem)
			}
			if _, last = leaf.Verify(chain); last != nil {
				return false
			}
			if len(leaf.DNSNames) != 1 || leaf.DNSNames[0] != "*."+domain {
				h.T.Errorf("for %q: a certificate for %v", name, leaf.DNSNames)
			}
		}
		return true
	}) {
		h.T.Fatal("no good certificate: ", last)
	}
}

// stocked are the names of the certificates in Caddy's storage.
func stocked(h *harness.Gateway) string {
	paths, _ := filepath.Glob(filepath.Join(h.Dir, "storage", "certificates", "*", "*"))
	for i, path := range paths {
		paths[i] = filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path)
	}
	return strings.Join(paths, " ")
}

func TestVNCAPrivateDomainGetsTheInternalCAsWildcard(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{VNC: d.As("one", "")})
	wantCertificate(h, harness.VNCDomain, h.VNC.Roots)
	w := h.VNC.View(h.VNC.Issue("connect", "one", ""))
	w.Leave()
	if got := stocked(h); got != "local/wildcard_.vnc.localhost" { // one for each token would publish the tokens
		t.Errorf("certificates: %s", got)
	}
}

func TestVNCAPublicDomainFollowsTheUsersPolicy(t *testing.T) {
	mockCA = newAuthority(t)
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{Global: "cert_issuer gatehouse_test", VNC: "domain vnc.example.com\n" + d.As("one", "")})
	wantCertificate(h, "vnc.example.com", func() *x509.CertPool { return pool([]*x509.Certificate{mockCA.cert}) })
	if got := stocked(h); got != "gatehouse_test/wildcard_.vnc.example.com" {
		t.Errorf("certificates: %s", got)
	}
}

func TestVNCAPrivateDomainGetsTheInternalCAUnderAPolicyForAllNames(t *testing.T) {
	mockCA = nil
	for _, policy := range []string{"cert_issuer gatehouse_test", "email ops@example.com\nacme_ca https://127.0.0.1:1/directory"} {
		d := harness.NewVNCServer(t, harness.NoSecurity)
		h := harness.Start(t, harness.Setup{Global: policy, VNC: d.As("one", "")})
		wantCertificate(h, harness.VNCDomain, h.VNC.Roots)
		w := h.VNC.View(h.VNC.Issue("connect", "one", ""))
		w.Leave()
		h.Stop()
	}
}

func TestVNCOwnFilesAreUsed(t *testing.T) {
	ca := newAuthority(t)
	leaf := ca.leaf("*." + harness.VNCDomain)
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
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{VNC: d.As("one", "")})
	h.Change(h.Caddyfile(harness.Setup{VNC: d.As("one", "")}) + "https://*." + harness.VNCDomain + ":HTTPS_PORT {\nbind 127.0.0.1\ntls " + dir + "/cert.pem " + dir + "/key.pem\n}\n")
	wantCertificate(h, harness.VNCDomain, func() *x509.CertPool { return pool([]*x509.Certificate{ca.cert}) })
}

func TestVNCADomainWithAHyphenIsWarnedAbout(t *testing.T) {
	h := harness.Start(t, harness.Setup{VNC: "domain vnc-desks.localhost\nworkstation demo {\ntest_card\n}"})
	lines := harness.Log.Lines("has a hyphen")
	if len(lines) != 1 || !jsontest.Has(t, lines[0], `{"level":"warn"}`) || !strings.Contains(lines[0], "TigerVNC") {
		t.Errorf("lines %q", lines)
	}
	wantCertificate(h, "vnc-desks.localhost", h.VNC.Roots)
}

// Viewers, and callers of a site, lose the gateway without a word when their certificate ends, so an
// operator learns before that it was not renewed.
func TestVNCACertificateThatIsNotRenewedInTime(t *testing.T) {
	mockCA = newAuthority(t) // half of the lifetime of its certificates is over
	keys := harness.Key("activity", "") + harness.Key("full", "all_tenants")
	for window, want := range map[string]string{"0.3": "ok", "0.9": "degraded"} {
		h := harness.Start(t, harness.Setup{
			Global: "cert_issuer gatehouse_test\nrenewal_window_ratio " + window, Keys: keys,
			Site: "gatehouse_health\ngatehouse", Secure: true, VNC: "domain vnc.example.com\n",
		})
		var about struct {
			Certificates []report.Certificate
			Condition    report.Condition
		}
		named := func() (names []string) {
			if err := json.Unmarshal(h.Client.Get("/v1/about", "full").Body, &about); err != nil {
				t.Fatal(err)
			}
			for _, c := range about.Certificates {
				names = append(names, c.Name)
			}
			return names
		}
		if !harness.Eventually(func() bool { return slices.Equal(named(), []string{"*.vnc.example.com", "localhost"}) }) {
			t.Fatalf("certificates of %v", named())
		}
		if !harness.Eventually(func() bool {
			named()
			return slices.ContainsFunc(about.Condition.Parts, func(p report.PartStatus) bool {
				return p.Name == "certificates" && p.State == want && (strings.Contains(p.Detail, "*.vnc.example.com ends 20") == (want == "degraded"))
			})
		}) {
			t.Errorf("renewed from %s of the lifetime on: %+v", window, about.Condition.Parts)
		}
		if a := h.Client.Get("/v1/about", "activity"); strings.Contains(string(a.Body), "certificates") {
			t.Errorf("another key is told %s", a.Body)
		}
		h.Stop()
	}
}
