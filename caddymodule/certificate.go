package caddymodule

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddytls"
	"github.com/caddyserver/certmagic"
)

// certificate is the wildcard certificate of viewers.
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
		return nil, fmt.Errorf("the automation policy that governs %s obtains certificates on demand, which would publish every token: give %s its own policy", c.name, c.name)
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
func (c *certificate) ends() (last time.Time) {
	for _, found := range caddytls.AllMatchingCertificates(c.name) {
		if leaf := found.Leaf; leaf != nil && leaf.NotAfter.After(last) {
			last = leaf.NotAfter
		}
	}
	return last
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
