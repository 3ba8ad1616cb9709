package identity

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Names in a certificate are a list each, not a text in Go's form of one.
func TestValuesOfACertificate(t *testing.T) {
	uris := []*url.URL{{Scheme: "spiffe", Host: "acme", Path: "/ann"}, {Scheme: "spiffe", Host: "acme", Path: "/ai"}}
	certificate := &x509.Certificate{
		Subject: pkix.Name{CommonName: "ann"}, DNSNames: []string{"a.example.com", "b.example.com"}, EmailAddresses: []string{"ann@example.com"},
		IPAddresses: []net.IP{net.IPv4(192, 0, 2, 1), net.IPv6loopback}, URIs: uris,
	}
	for _, verified := range []bool{true, false} {
		r := httptest.NewRequest("GET", "https://localhost/", nil)
		r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate}}
		if verified {
			r.TLS.VerifiedChains = [][]*x509.Certificate{{certificate}}
		}
		r = caddyhttp.PrepareRequest(r, caddyhttp.NewTestReplacer(r), nil, nil)
		for name, want := range map[string][]string{
			"subject": {"CN=ann"}, "san.emails": {"ann@example.com"}, "san.emails.0": {"ann@example.com"}, "san.dns_names": {"a.example.com", "b.example.com"},
			"san.uris": {"spiffe://acme/ann", "spiffe://acme/ai"}, "san.uris.1": {"spiffe://acme/ai"}, "san.ips": {"192.0.2.1", "::1"},
		} {
			if !verified {
				want = nil
			}
			if got := placeholderValues(r, certificatePrefix+name); !slices.Equal(got, want) {
				t.Errorf("%s, verified %v: %q, want %q", name, verified, got, want)
			}
		}
	}
}
