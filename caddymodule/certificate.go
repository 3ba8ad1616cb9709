package caddymodule

import (
	"encoding/json"
	"fmt"

	"github.com/caddyserver/caddy/v2/modules/caddytls"
	"github.com/caddyserver/certmagic"
)

// prepareCertificate sees to it that a wildcard certificate for the VNC domain
// can be had. Never one for each token: that would publish the tokens in
// Certificate Transparency logs. For a name that no public CA signs, and that no
// automation policy names, the internal issuer is put in charge; a public name
// follows the user's own policies (acme_dns, cert_issuer, …).
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
	if certmagic.SubjectQualifiesForPublicCert(name) || a.named(name) {
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

// wildcard is the certificate's name.
func (a *App) wildcard() string { return "*." + a.VNC.Domain }

// named tells whether an automation policy is meant for the name.
func (a *App) named(name string) bool {
	if a.tls.Automation == nil {
		return false
	}
	for _, policy := range a.tls.Automation.Policies {
		for _, subject := range policy.Subjects() {
			if certmagic.MatchWildcard(name, subject) {
				return true
			}
		}
	}
	return false
}

// manageCertificate obtains and renews the certificate, unless the
// configuration loads one from files.
func (a *App) manageCertificate() error {
	if a.VNC == nil || a.tls.HasCertificateForSubject(a.wildcard()) {
		return nil
	}
	if err := a.tls.Manage(map[string]struct{}{a.wildcard(): {}}); err != nil {
		return fmt.Errorf("the certificate of %s: %w", a.wildcard(), err)
	}
	return nil
}
