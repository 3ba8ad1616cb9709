package clouds

import (
	"context"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/cloudauth"
)

// GoogleAuth is an account of Google Cloud. Without a member the environment is asked as Google's
// SDKs do: GOOGLE_APPLICATION_CREDENTIALS, the file of gcloud, the metadata server.
type GoogleAuth struct {
	// File has the key of a service account, or says how workload identity federation gets tokens.
	// It is read for each token.
	File string `json:"file,omitempty"`

	// Metadata asks only the metadata server of a VM or of GKE.
	Metadata bool `json:"metadata,omitempty"`

	// QuotaProject pays for the calls. Default: that of the credential.
	QuotaProject string `json:"quota_project,omitempty"`
}

// CaddyModule returns the module's information.
func (GoogleAuth) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.credentials.google", New: func() caddy.Module { return new(GoogleAuth) }}
}

// UnmarshalCaddyfile reads the account. Its block may be missing:
//
//	auth google {
//		file PATH
//		metadata
//		quota_project PROJECT
//	}
func (a *GoogleAuth) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	return caddykit.Options{
		"file":          caddykit.Word(&a.File),
		"metadata":      caddykit.Flag(&a.Metadata),
		"quota_project": caddykit.Word(&a.QuotaProject),
	}.Block(d)
}

// Prepare implements [guest.Account].
func (a *GoogleAuth) Prepare(s *guest.Server) (guest.NewCredential, error) {
	at := s.Place
	if err := check(s, "google", at.Region+at.Service+at.Resource, true); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (guest.Credential, error) {
		return cloudauth.NewGoogle(ctx, cloudauth.Google(*a), tokenClient(), time.Now)
	}, nil
}
