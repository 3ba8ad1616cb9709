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
	policy, named := a.governing(name)
	switch {
	case !certmagic.SubjectQualifiesForPublicCert(name) && !named: // ours goes before one for all names
	case policy != nil && policy.OnDemand:
		return fmt.Errorf("the automation policy that governs %s obtains certificates on demand, which would publish every token: give %s a policy of its own", name, name)
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

// wildcard is the certificate's name.
func (a *App) wildcard() string { return "*." + a.VNC.Domain }

// governing is the automation policy that decides over the name, the first that
// fits; named tells that it is meant for the name, and not for all.
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
