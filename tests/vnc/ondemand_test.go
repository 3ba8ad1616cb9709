package vnc

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
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
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: d.As("one", "")})
	public := h.Caddyfile(harness.Setup{Global: "cert_issuer gatehouse_test\n" + askFirst, VNC: "domain vnc.example.com\n" + d.As("one", "")})
	private := h.Caddyfile(harness.Setup{Global: askFirst, VNC: d.As("one", "")})
	for name, c := range map[string]struct{ caddyfile, wildcard string }{
		"a policy for all names, public domain": {public + onDemand(""), "*.vnc.example.com"},
		"a policy of the public domain's own":   {public + onDemand("*.vnc.example.com"), "*.vnc.example.com"},
		"a policy of the private domain's own":  {private + onDemand("*."+harness.VNCDomain), "*." + harness.VNCDomain},
	} {
		err := h.Load(c.caddyfile)
		if err == nil || !strings.Contains(err.Error(), c.wildcard) || !strings.Contains(err.Error(), "on demand") {
			t.Errorf("%s: loading: %v", name, err)
		}
	}
	w := h.VNC.View(h.VNC.Issue("connect", "one", "")) // all is as it was
	w.Leave()

	// What governs the domain is another policy. A token's name gets the
	// wildcard's certificate or, as long as there is none, no certificate.
	for domain, caddyfile := range map[string]string{
		harness.VNCDomain: private + onDemand(""),
		"vnc.example.com": public + onDemand("") + "https://*.vnc.example.com:HTTPS_PORT {\nbind 127.0.0.1\ntls {\nissuer gatehouse_test\n}\n}\n",
	} {
		h.Change(caddyfile)
		host := h.VNC.Issue("connect", "one", "").Host
		var names string
		if !harness.Eventually(func() bool {
			leaf, err := certificate(h, host)
			if err == nil {
				names = strings.Join(leaf.DNSNames, " ")
			}
			return err == nil
		}) || names != "*."+domain {
			t.Errorf("%s: a certificate for %q", domain, names)
		}
		if lines := harness.Log.Lines("on-demand certificate"); len(lines) > 0 {
			t.Errorf("%s: %s", domain, lines[0])
		}
	}
	if got := stocked(h); got != "gatehouse_test/wildcard_.vnc.example.com local/wildcard_.vnc.localhost" {
		t.Errorf("certificates: %s", got)
	}
}
