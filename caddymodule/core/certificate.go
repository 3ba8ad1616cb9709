package core

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddytls"
	"github.com/caddyserver/certmagic"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// certificate is the wildcard certificate of viewers, or the one of a site.
type certificate struct {
	name string
	tls  *caddytls.TLS
}

// newCertificate makes sure that a wildcard certificate for the VNC domain can be obtained. It
// never asks for one per token: that would publish the tokens in Certificate Transparency logs. A
// name that no public CA signs, and that no automation policy names, gets the internal issuer. A
// public name follows the user's own policies (acme_dns, cert_issuer, …).
func newCertificate(ctx caddy.Context, domain string) (*certificate, error) {
	module, err := ctx.App("tls")
	if err != nil {
		return nil, err
	}
	c := &certificate{"*." + domain, module.(*caddytls.TLS)}
	policy, named := c.policy()
	switch {
	case !certmagic.SubjectQualifiesForPublicCert(c.name) && !named: // our policy goes before one for all names
	case policy != nil && policy.OnDemand:
		return nil, fmt.Errorf("the automation policy that governs %s obtains certificates on demand, which would publish every token: "+
			"give %s its own policy", c.name, c.name)
	default:
		return c, nil
	}
	err = c.tls.AddAutomationPolicy(&caddytls.AutomationPolicy{
		SubjectsRaw: []string{c.name},
		IssuersRaw:  []json.RawMessage{json.RawMessage(`{"module":"internal"}`)},
	})
	if err != nil {
		return nil, fmt.Errorf("the certificate of %s: %w", c.name, err)
	}
	return c, nil
}

// policy returns the first automation policy that fits the name. named reports whether the
// policy lists the name, rather than applying to all names.
func (c *certificate) policy() (policy *caddytls.AutomationPolicy, named bool) {
	if c.tls.Automation == nil {
		return nil, false
	}
	for _, policy := range c.tls.Automation.Policies {
		if len(policy.Subjects()) == 0 {
			return policy, false
		}
		for _, subject := range policy.Subjects() {
			if certmagic.MatchWildcard(c.name, subject) {
				return policy, true
			}
		}
	}
	return nil, false
}

// check returns why viewers find no valid certificate, nil if they do.
func (c *certificate) check() error {
	expired := false
	for _, found := range caddytls.AllMatchingCertificates(c.name) {
		if !found.Expired() {
			return nil
		}
		expired = true
	}
	if expired {
		return fmt.Errorf("the certificate of %s has expired; the log of Caddy's tls app says why it was not renewed", c.name)
	}
	return fmt.Errorf("there is no certificate of %s; the log of Caddy's tls app says why", c.name)
}

// ends returns when the certificate of viewers expires, the zero time without one.
func (c *certificate) ends() time.Time {
	if newest := c.newest(); newest != nil {
		return newest.NotAfter
	}
	return time.Time{}
}

// newest returns the certificate that is valid for longest, nil without one.
func (c *certificate) newest() (newest *x509.Certificate) {
	for _, found := range caddytls.AllMatchingCertificates(c.name) {
		if leaf := found.Leaf; leaf != nil && (newest == nil || leaf.NotAfter.After(newest.NotAfter)) {
			newest = leaf
		}
	}
	return newest
}

// presented returns the certificates of the names that there are.
func presented(all []certificate) (there []report.Certificate) {
	for i := range all {
		newest := all[i].newest()
		if newest == nil {
			continue
		}
		var window float64
		if policy, _ := all[i].policy(); policy != nil {
			window = policy.RenewalWindowRatio
		}
		there = append(there, report.Certificate{Name: all[i].name, Expires: newest.NotAfter, RenewBy: caddykit.RenewBy(newest, window)})
	}
	return there
}

// presentedNames returns what clients need a certificate for: the sites with a directive of ours,
// and viewers, if there are any. All apps must be provisioned.
func presentedNames(ctx caddy.Context, viewers *certificate) (names []certificate) {
	module, err := ctx.AppIfConfigured("tls")
	if err != nil {
		return nil // no site has HTTPS
	}
	tls := module.(*caddytls.TLS)
	if viewers != nil {
		names = append(names, *viewers)
	}
	module, err = ctx.AppIfConfigured("http")
	if err != nil {
		return names
	}
	var hosts []string
	for _, server := range module.(*caddyhttp.App).Servers {
		hosts = append(hosts, caddykit.SiteHosts(server, func(id caddy.ModuleID) bool { return strings.HasPrefix(id.Name(), caddykit.AppName) })...)
	}
	slices.Sort(hosts)
	for _, host := range slices.Compact(hosts) {
		names = append(names, certificate{host, tls})
	}
	return names
}

// own reports whether the configuration loads the certificate from files.
func (c *certificate) own() bool { return c.tls.HasCertificateForSubject(c.name) }

// manage obtains and renews the certificate, unless the configuration loads one from
// files.
func (c *certificate) manage() error {
	if c.own() {
		return nil
	}
	if err := c.tls.Manage(map[string]struct{}{c.name: {}}); err != nil {
		return fmt.Errorf("the certificate of %s: %w", c.name, err)
	}
	return nil
}
