package core

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// readAuth reads the account of a cloud. Its block may be missing.
//
//	auth google {
//		file PATH
//		metadata
//		quota_project PROJECT
//	}
//	auth aws {
//		access_key ID
//		secret_key {env.NAME}
//		session_token {env.NAME}
//		profile NAME
//		instance
//		role ARN
//	}
//	auth azure {
//		tenant ID
//		client_id ID
//		client_secret {env.NAME}
//		certificate PATH
//		token_file PATH
//		managed_identity
//		scope URL
//		authority URL
//	}
func (a *Access) readAuth(d *caddyfile.Dispenser) error {
	var cloud string
	if !d.AllArgs(&cloud) {
		return d.ArgErr()
	}
	if a.Auth != nil {
		return d.Err("auth and oauth: give only one of them")
	}
	a.Auth = new(Auth)
	var options caddykit.Options
	switch cloud {
	case "google":
		a.Auth.Google = new(GoogleAuth)
		options = a.Auth.Google.options()
	case "aws":
		a.Auth.AWS = new(AWSAuth)
		options = a.Auth.AWS.options()
	case "azure":
		a.Auth.Azure = new(AzureAuth)
		options = a.Auth.Azure.options()
	default:
		return d.Errf("auth %q: want google, aws or azure", cloud)
	}
	return options.Block(d)
}

func (a *GoogleAuth) options() caddykit.Options {
	return caddykit.Options{
		"file":          caddykit.Word(&a.File),
		"metadata":      caddykit.Flag(&a.Metadata),
		"quota_project": caddykit.Word(&a.QuotaProject),
	}
}

func (a *AWSAuth) options() caddykit.Options {
	return caddykit.Options{
		"access_key":    caddykit.Word(&a.AccessKey),
		"secret_key":    caddykit.Word(&a.SecretKey),
		"session_token": caddykit.Word(&a.SessionToken),
		"profile":       caddykit.Word(&a.Profile),
		"instance":      caddykit.Flag(&a.Instance),
		"role":          caddykit.Word(&a.Role),
	}
}

func (a *AzureAuth) options() caddykit.Options {
	return caddykit.Options{
		"tenant":           caddykit.Word(&a.Tenant),
		"client_id":        caddykit.Word(&a.ClientID),
		"client_secret":    caddykit.Word(&a.ClientSecret),
		"certificate":      caddykit.Word(&a.Certificate),
		"token_file":       caddykit.Word(&a.TokenFile),
		"managed_identity": caddykit.Flag(&a.ManagedIdentity),
		"scope":            caddykit.Word(&a.Scope),
		"authority":        caddykit.Word(&a.Authority),
	}
}
