package tests

import (
	"strings"
	"testing"
)

const askFirst = "on_demand_tls {\nask http://127.0.0.1:1/ask\n}\n"

// onDemand is a site whose policy obtains certificates for any name.
func onDemand(host string) string {
	return "https://" + host + ":HTTPS_PORT {\nbind 127.0.0.1\ntls {\non_demand\n}\n}\n"
}

// A certificate on demand has the name that the viewer sends: the token. It
// would be asked of a public CA, and so be published.
func TestVNCTokensAreNoNamesOfCertificatesOnDemand(t *testing.T) {
	mockCA = newAuthority(t)
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: d.as("one", "")})
	public := h.caddyfile(setup{global: "cert_issuer gatehouse_test\n" + askFirst, vnc: "domain vnc.example.com\n" + d.as("one", "")})
	private := h.caddyfile(setup{global: askFirst, vnc: d.as("one", "")})
	for name, c := range map[string]struct{ caddyfile, wildcard string }{
		"a policy for all names, public domain": {public + onDemand(""), "*.vnc.example.com"},
		"a policy of the public domain's own":   {public + onDemand("*.vnc.example.com"), "*.vnc.example.com"},
		"a policy of the private domain's own":  {private + onDemand("*."+vncDomain), "*." + vncDomain},
	} {
		err := h.load(c.caddyfile)
		if err == nil || !strings.Contains(err.Error(), c.wildcard) || !strings.Contains(err.Error(), "on demand") {
			t.Errorf("%s: loading: %v", name, err)
		}
	}
	w := h.view(h.issue("connect", "one", "")) // all is as it was
	w.leave()

	// What governs the domain is another policy. A token's name gets the
	// wildcard's certificate or, as long as there is none, no certificate.
	for domain, caddyfile := range map[string]string{
		vncDomain:         private + onDemand(""),
		"vnc.example.com": public + onDemand("") + "https://*.vnc.example.com:HTTPS_PORT {\nbind 127.0.0.1\ntls {\nissuer gatehouse_test\n}\n}\n",
	} {
		h.change(caddyfile)
		host := h.issue("connect", "one", "").host
		var names string
		if !eventually(func() bool {
			leaf, err := h.certificate(host)
			if err == nil {
				names = strings.Join(leaf.DNSNames, " ")
			}
			return err == nil
		}) || names != "*."+domain {
			t.Errorf("%s: a certificate for %q", domain, names)
		}
		if lines := h.logLines("on-demand certificate"); len(lines) > 0 {
			t.Errorf("%s: %s", domain, lines[0])
		}
	}
	if got := h.stocked(); got != "gatehouse_test/wildcard_.vnc.example.com local/wildcard_.vnc.localhost" {
		t.Errorf("certificates: %s", got)
	}
}
