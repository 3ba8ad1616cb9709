package models

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// credentialLook is how often a credential is looked at for the log. Nothing is asked then.
const credentialLook = time.Second

// CredentialStatus says whether a cloud gives the gateway what authorizes its requests.
type CredentialStatus struct {
	Cloud string `json:"cloud"` // google, aws, azure, oauth
	// Valid reports whether requests can be authorized, or that nothing has been tried yet.
	Valid bool `json:"valid"`
	// Remaining is how many seconds the present one lives; null if it does not expire, or there is
	// none.
	Remaining *int64 `json:"remaining_seconds"`
	// Failure is why the last attempt to get one failed; null if it did not.
	Failure *string `json:"failure"`
}

// credentialStatus returns the status of an endpoint's credential, nil if no cloud gives it.
func credentialStatus(e *provider.Endpoint) *CredentialStatus {
	c, ok := e.Credential().(provider.Issued)
	if !ok {
		return nil
	}
	return statusOf(c)
}

func statusOf(c provider.Issued) *CredentialStatus {
	s := c.Status()
	shown := &CredentialStatus{Cloud: s.Kind, Valid: s.Life > 0 || s.Err == nil}
	if s.Life > 0 {
		seconds := int64(s.Life / time.Second)
		shown.Remaining = &seconds
	}
	if s.Err != nil {
		shown.Failure = orNull(s.Err.Error())
	}
	return shown
}

// Issued is a credential that a cloud or an authorization server gives, and who gets it.
type Issued struct {
	provider.Issued
	Provider string // or the MCP server; their names differ
	Endpoint string // "" for the only one
}

// issuedTo returns the credentials of providers.
func issuedTo(providers []*provider.Provider) (found []Issued) {
	for _, p := range providers {
		for _, e := range p.Endpoints {
			if c, ok := e.Credential().(provider.Issued); ok {
				found = append(found, Issued{c, p.Name, e.Name})
			}
		}
	}
	return found
}

func (i Issued) name() string {
	if i.Endpoint == "" {
		return i.Provider
	}
	return i.Provider + "@" + i.Endpoint
}

// WithoutCredential returns whose requests cannot be authorized at present.
func WithoutCredential(all []Issued) (names []string) {
	for _, i := range all {
		if !statusOf(i).Valid {
			names = append(names, i.name())
		}
	}
	return names
}

// watchCredentials asks for the credentials that no earlier configuration had, and logs until ctx
// ends which of them cannot be had.
func watchCredentials(ctx context.Context, all []Issued, logger *zap.Logger) {
	watched := map[provider.Issued]bool{} // several providers can have one
	for _, i := range all {
		if !watched[i.Issued] {
			watched[i.Issued] = true
			go watchCredential(ctx, i.Issued, logger.With(zap.String("provider", i.name()), zap.String("cloud", i.Status().Kind)))
		}
	}
}

func watchCredential(ctx context.Context, c provider.Issued, logger *zap.Logger) {
	if c.Status().Refreshed.IsZero() {
		_ = c.Fetch(ctx) // the status has the error
	}
	look := time.NewTicker(credentialLook)
	defer look.Stop()
	last := ""
	for ctx.Err() == nil {
		s := c.Status()
		message, cause := "", ""
		if s.Err != nil {
			cause = s.Err.Error()
			if message = "a cloud gives no credential: calls of this provider fail until it does"; s.Life > 0 {
				message = "a cloud does not renew a credential; the present one is used while it is valid"
			}
		}
		switch {
		case message+cause == last:
		case s.Err != nil:
			logger.Warn(message, zap.String("cause", cause), zap.Duration("remaining", s.Life))
		default:
			logger.Info("a cloud gives a credential again", zap.Duration("remaining", s.Life))
		}
		last = message + cause
		select {
		case <-ctx.Done():
		case <-look.C:
		}
	}
}
