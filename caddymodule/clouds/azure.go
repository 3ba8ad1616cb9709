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

// AzureAuth is an account of Microsoft Entra ID. Without ClientSecret, Certificate, TokenFile and
// ManagedIdentity the variables of workload identity in Kubernetes say all.
type AzureAuth struct {
	// Tenant is the id or the domain of a directory. Default: AZURE_TENANT_ID.
	Tenant string `json:"tenant,omitempty"`

	// ClientID is that of the application, or of a user-assigned managed identity. Default:
	// AZURE_CLIENT_ID.
	ClientID string `json:"client_id,omitempty"`

	// ClientSecret is {env.NAME} or {file./path}; the file is read again when it changes.
	ClientSecret string `json:"client_secret,omitempty" placeholders:"yes"`

	// Certificate is a PEM file with a certificate and its RSA key.
	Certificate string `json:"certificate,omitempty"`

	// TokenFile has the token of another issuer. It is read for each token. Default:
	// AZURE_FEDERATED_TOKEN_FILE.
	TokenFile string `json:"token_file,omitempty"`

	// ManagedIdentity asks for the identity of the VM, the container or the App Service.
	ManagedIdentity bool `json:"managed_identity,omitempty"`

	// Scope is what tokens are for. Default: https://ai.azure.com/.default.
	Scope string `json:"scope,omitempty"`

	// Authority is that of a sovereign cloud. Default: https://login.microsoftonline.com.
	Authority string `json:"authority,omitempty"`
}

// CaddyModule returns the module's information.
func (AzureAuth) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.credentials.azure", New: func() caddy.Module { return new(AzureAuth) }}
}

// UnmarshalCaddyfile reads the account. Its block may be missing:
//
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
func (a *AzureAuth) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	return caddykit.Options{
		"tenant":           caddykit.Word(&a.Tenant),
		"client_id":        caddykit.Word(&a.ClientID),
		"client_secret":    caddykit.Word(&a.ClientSecret),
		"certificate":      caddykit.Word(&a.Certificate),
		"token_file":       caddykit.Word(&a.TokenFile),
		"managed_identity": caddykit.Flag(&a.ManagedIdentity),
		"scope":            caddykit.Word(&a.Scope),
		"authority":        caddykit.Word(&a.Authority),
	}.Block(d)
}

// Prepare implements [guest.Account].
func (a *AzureAuth) Prepare(s *guest.Server) (guest.NewCredential, error) {
	at := s.Place
	if err := check(s, "azure", at.Region+at.Service+at.Location+at.APIVersion, true); err != nil {
		return nil, err
	}
	secret, err := s.Secret("client_secret", a.ClientSecret)
	account := cloudauth.Azure{
		Tenant: a.Tenant, ClientID: a.ClientID, Scope: a.Scope, Authority: a.Authority,
		Secret: secret, Certificate: a.Certificate, TokenFile: a.TokenFile, Managed: a.ManagedIdentity,
	}
	return func(ctx context.Context) (guest.Credential, error) {
		return cloudauth.NewAzure(ctx, account, tokenClient(), time.Now)
	}, err
}
