package check

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddytls"
	"github.com/caddyserver/certmagic"
	"github.com/mholt/caddy-l4/layer4"
)

// servers returns the HTTP servers that have a handler of ours, by name.
func (c *inspected) servers() map[string]*caddyhttp.Server {
	module, err := c.Context.AppIfConfigured("http")
	if err != nil {
		return nil
	}
	ours := maps.Clone(module.(*caddyhttp.App).Servers)
	maps.DeleteFunc(ours, func(_ string, s *caddyhttp.Server) bool { return !servesAPI(s) })
	return ours
}

// testSeverity is how bad a part for trying out is: only this machine can reach a server on loopback.
func (c *inspected) testSeverity() Severity {
	for _, s := range c.servers() {
		for _, address := range s.Listen {
			parsed, err := caddy.ParseNetworkAddress(address)
			if err != nil || !parsed.IsUnixNetwork() && !onThisMachine(parsed.Host) {
				return Warning
			}
		}
	}
	return Note
}

// onThisMachine reports whether a host is a loopback address, or a name of one (RFC 6761, section 6.3).
func onThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return isLocalhost(host) || err == nil && ip.IsLoopback()
}

func isLocalhost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// checkSites looks at the sites that serve the API: that there is one, its logs, and how it stops.
func checkSites(c *inspected) (found []Finding) {
	servers := c.servers()
	if len(servers) == 0 && len(c.Providers)+len(c.MCP) > 0 {
		return append(found, Finding{Failure, "sites", "no site has the directive gatehouse: nobody can call", "Add gatehouse to a site."})
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if s := servers[name]; s.Logs != nil {
			if logs := unfilteredLogs(configuredLogs(c.Context), accessLoggers(s.Logs)); len(logs) > 0 {
				found = append(found, Finding{Warning, "log " + strings.Join(logs, ", "), loggedKeys,
					"Add to each of these logs: " + filterAdvice()})
			}
		}
	}
	if module, err := c.Context.AppIfConfigured("http"); err == nil && module.(*caddyhttp.App).GracePeriod == 0 {
		found = append(found, Finding{Warning, "grace_period", "it is missing: a stop or reload of Caddy waits for open streams without limit",
			"Add to the global options: grace_period 30s"})
	}
	if c.losesConnections(servers) {
		found = append(found, Finding{Note, "listener_wrappers", "a reload loses requests that come in that moment over connections that are open",
			"Add to the global options, a word a line: servers { listener_wrappers { gatehouse tls gatehouse } }. docs/operations.md says what it costs."})
	}
	return found
}

// losesConnections reports whether one of the servers keeps no connections over a reload. That takes a
// wrapper below TLS, and one above it.
func (c *inspected) losesConnections(servers map[string]*caddyhttp.Server) bool {
	var configured struct {
		Servers map[string]struct {
			ListenerWrappers []struct{ Wrapper string } `json:"listener_wrappers"`
		}
	}
	if len(servers) == 0 || json.Unmarshal(c.HTTP, &configured) != nil {
		return false
	}
	for name, s := range servers {
		var below, above bool
		for _, w := range configured.Servers[name].ListenerWrappers {
			above = above || below && w.Wrapper == "gatehouse"
			below = below || w.Wrapper == "gatehouse"
		}
		if !below || !above && len(s.TLSConnPolicies) > 0 {
			return true
		}
	}
	return false
}

// checkCertificate looks at what viewers of desktops need: a wildcard certificate, and a name that
// they can use.
func checkCertificate(c *inspected) (found []Finding) {
	if c.Desktops == nil {
		return nil
	}
	const subject = "vnc"
	name := c.Desktops.Wildcard()
	if strings.Contains(c.Desktops.Domain, "-") {
		found = append(found, Finding{Note, subject, "TigerVNC from 1.16 on cannot connect below a domain with a hyphen: " + c.Desktops.Domain, "Use a domain without one, if you have such viewers."})
	}
	found = append(found, c.listener()...)
	if c.Desktops.OwnCertificate {
		return found
	}
	policy := c.Desktops.Policy()
	if certmagic.SubjectQualifiesForPublicCert(name) && !solvesDNS(policy) {
		found = append(found, Finding{Failure, subject, "a public certificate for " + name + " cannot be obtained: that needs the DNS challenge",
			"Add acme_dns to the global options, or a certificate of your own."})
	}
	return append(found, storedCertificate(c, name))
}

// listener compares the port of addresses with the ports that layer 4 listens at.
func (c *inspected) listener() []Finding {
	const subject = "vnc"
	module, err := c.Context.AppIfConfigured("layer4")
	if err != nil {
		return []Finding{{Failure, subject, "no layer4 server has the handler vnc: no viewer can connect", "Add a layer4 block: docs/vnc.md has one."}}
	}
	var listens []string
	for _, server := range module.(*layer4.App).Servers {
		for _, text := range server.Listen {
			address, err := caddy.ParseNetworkAddress(text)
			if err != nil || address.IsUnixNetwork() || uint(c.port()) >= address.StartPort && uint(c.port()) <= address.EndPort {
				return nil
			}
			listens = append(listens, text)
		}
	}
	slices.Sort(listens)
	return []Finding{{Warning, subject, fmt.Sprintf("the addresses of desktops have port %d, and layer4 listens at %s", c.port(), some(listens)),
		"Let both have the same port, with the option port of vnc. If something in front forwards the port, this is right."}}
}

// port is the port in the addresses of desktops.
func (c *inspected) port() int {
	if c.Desktops.Port == 0 {
		return defaultPort
	}
	return c.Desktops.Port
}

// solvesDNS reports whether an issuer of the policy can get a wildcard certificate.
func solvesDNS(policy *caddytls.AutomationPolicy) bool {
	return policy != nil && slices.ContainsFunc(policy.Issuers, func(i certmagic.Issuer) bool {
		acme, ok := i.(*caddytls.ACMEIssuer)
		return !ok || acme.Challenges != nil && acme.Challenges.DNS != nil
	})
}

// storedCertificate looks at the certificate in Caddy's storage, if that is a folder.
func storedCertificate(c *inspected, name string) Finding {
	const subject = "vnc"
	root := caddy.AppDataDir()
	if len(c.Storage) > 0 {
		var storage struct{ Module, Root string }
		if json.Unmarshal(c.Storage, &storage) != nil || storage.Module != "file_system" {
			return Finding{Note, subject, "the certificate of " + name + " is in a storage that is not looked at", "Use --dial to see that viewers can connect."}
		}
		if storage.Root != "" {
			root = storage.Root
		}
	}
	certificate, err := newestCertificate(root, name)
	switch {
	case err != nil:
		return Finding{Warning, subject, "the certificate of " + name + " cannot be read: " + err.Error(), "Run check as the user that runs Caddy."}
	case certificate == nil:
		return Finding{Note, subject, "there is no certificate for " + name + " yet in " + root, "Caddy obtains one when it starts."}
	case !c.now.Before(certificate.NotAfter):
		return Finding{Failure, subject, "the certificate of " + name + " expired at " + certificate.NotAfter.Format("2006-01-02 15:04 UTC"), "Look in Caddy's log why it was not renewed."}
	case certificate.VerifyHostname("any."+c.Desktops.Domain) != nil:
		return Finding{Failure, subject, fmt.Sprintf("the certificate is for %s, not for %s", some(certificate.DNSNames), name), "Remove it, so that Caddy obtains another."}
	case !c.now.Before(c.Desktops.RenewBy(certificate)):
		return Finding{Warning, subject, "the certificate of " + name + " is due for renewal, and expires at " + certificate.NotAfter.Format("2006-01-02 15:04 UTC"), "Caddy renews it while it runs; if it does not, its log says why."}
	}
	return Finding{Note, subject, "the certificate of " + name + " is valid until " + certificate.NotAfter.Format("2006-01-02 15:04 UTC"), ""}
}

// newestCertificate returns the newest certificate of a name in Caddy's storage, whoever issued it; nil for none.
func newestCertificate(root, name string) (newest *x509.Certificate, err error) {
	issuers, err := os.ReadDir(filepath.Join(root, "certificates"))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	storage := &certmagic.FileStorage{Path: root}
	for _, issuer := range issuers {
		text, err := storage.Load(context.Background(), certmagic.StorageKeys.SiteCert(issuer.Name(), name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		block, _ := pem.Decode(text)
		if block == nil {
			return nil, fmt.Errorf("%s: %w", issuer.Name(), fs.ErrInvalid)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		if newest == nil || certificate.NotAfter.After(newest.NotAfter) {
			newest = certificate
		}
	}
	return newest, nil
}
