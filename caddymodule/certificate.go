package caddymodule

import (
	"encoding/json"
	"fmt"

	"github.com/caddyserver/caddy/v2/modules/caddytls"
	"github.com/caddyserver/certmagic"
)

// prepareCertificate makes sure that a wildcard certificate for the VNC domain can be obtained. It
// never asks for one per token: that would publish the tokens in Certificate Transparency logs. A
// name that no public CA signs, and that no automation policy names, gets the internal issuer. A
// public name follows the user's own policies (acme_dns, cert_issuer, …).
func (a *App) prepareCertificate() error {
	if a.VNC == nil {
		return nil
	}
	module, err := a.ctx.App("tls")
	if err != nil {
		return err
	}
	a.tls = module.(*caddytls.TLS)
	name := a.wildcard()
	policy, named := a.governing(name)
	switch {
	case !certmagic.SubjectQualifiesForPublicCert(name) && !named: // our policy goes before one for all names
	case policy != nil && policy.OnDemand:
		return fmt.Errorf("the automation policy that governs %s obtains certificates on demand, which would publish every token: give %s its own policy", name, name)
	default:
		return nil
	}
	err = a.tls.AddAutomationPolicy(&caddytls.AutomationPolicy{
		SubjectsRaw: []string{name},
		IssuersRaw:  []json.RawMessage{json.RawMessage(`{"module":"internal"}`)},
	})
	if err != nil {
		return fmt.Errorf("the certificate of %s: %w", name, err)
	}
	return nil
}

// wildcard is the name of the certificate.
func (a *App) wildcard() string { return "*." + a.VNC.Domain }

// governing returns the first automation policy that fits the name. named reports whether the
// policy lists the name, rather than applying to all names.
func (a *App) governing(name string) (policy *caddytls.AutomationPolicy, named bool) {
	if a.tls.Automation == nil {
		return nil, false
	}
	for _, policy := range a.tls.Automation.Policies {
		if len(policy.Subjects()) == 0 {
			return policy, false
		}
		for _, subject := range policy.Subjects() {
			if certmagic.MatchWildcard(name, subject) {
				return policy, true
			}
		}
	}
	return nil, false
}

// checkCertificate returns why viewers find no valid certificate, nil if they do.
func (a *App) checkCertificate() error {
	expired := false
	for _, certificate := range caddytls.AllMatchingCertificates(a.wildcard()) {
		if !certificate.Expired() {
			return nil
		}
		expired = true
	}
	if expired {
		return fmt.Errorf("the certificate of %s has expired; the log of Caddy's tls app says why it was not renewed", a.wildcard())
	}
	return fmt.Errorf("there is no certificate of %s; the log of Caddy's tls app says why", a.wildcard())
}

// manageCertificate obtains and renews the certificate, unless the configuration loads one from
// files.
func (a *App) manageCertificate() error {
	if a.VNC == nil || a.tls.HasCertificateForSubject(a.wildcard()) {
		return nil
	}
	if err := a.tls.Manage(map[string]struct{}{a.wildcard(): {}}); err != nil {
		return fmt.Errorf("the certificate of %s: %w", a.wildcard(), err)
	}
	return nil
}
