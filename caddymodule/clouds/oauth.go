package clouds

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/cloudauth"
)

// OAuth is a client of an authorization server, which gets tokens with credentials of its own (RFC
// 6749, 4.4).
type OAuth struct {
	// TokenURL is the address of the token endpoint, https. Required.
	TokenURL string `json:"token_url,omitempty"`

	// ClientID is what the authorization server calls the gateway. Required.
	ClientID string `json:"client_id,omitempty"`

	// ClientSecret is {env.NAME} or {file./path}; the file is read again when it changes. Required.
	ClientSecret string `json:"client_secret,omitempty" placeholders:"yes"`

	// AuthMethod is how the secret is sent: "client_secret_basic" or "client_secret_post". Default:
	// client_secret_basic.
	AuthMethod string `json:"auth_method,omitempty"`

	// Scopes are what the token allows. Default: what the authorization server gives.
	Scopes []string `json:"scopes,omitempty"`

	// Audience is what some authorization servers call the service that the token is for. Default:
	// none.
	Audience string `json:"audience,omitempty"`

	// Resource is the URI of the service that the token is for (RFC 8707), or "off". Default: the
	// url of an MCP server, none at a provider.
	Resource string `json:"resource,omitempty"`
}

// noResource is for authorization servers that refuse RFC 8707.
const noResource = "off"

// CaddyModule returns the module's information.
func (OAuth) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.credentials.oauth", New: func() caddy.Module { return new(OAuth) }}
}

// UnmarshalCaddyfile reads the account. Its block may be missing:
//
//	oauth client_credentials {
//		token_url URL
//		client_id ID
//		client_secret {env.NAME}
//		auth_method client_secret_basic|client_secret_post
//		scope SCOPE…
//		audience NAME
//		resource URI|off
//	}
func (a *OAuth) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	return caddykit.Options{
		"token_url":     caddykit.Word(&a.TokenURL),
		"client_id":     caddykit.Word(&a.ClientID),
		"client_secret": caddykit.Word(&a.ClientSecret),
		"auth_method":   caddykit.Word(&a.AuthMethod),
		"scope":         caddykit.Words(&a.Scopes),
		"audience":      caddykit.Word(&a.Audience),
		"resource":      caddykit.Word(&a.Resource),
	}.Block(d)
}

// Prepare implements [guest.Account].
func (a *OAuth) Prepare(s *guest.Server) (guest.NewCredential, error) {
	at := s.Place
	if err := check(s, "oauth", at.Project+at.Location+at.APIVersion+at.Region+at.Service, true); err != nil {
		return nil, err
	}
	secret, err := s.Secret("client_secret", a.ClientSecret)
	client := cloudauth.OAuth{
		TokenURL: a.TokenURL, ClientID: a.ClientID, Secret: secret, Method: a.AuthMethod,
		Scope: strings.Join(a.Scopes, " "), Audience: a.Audience, Resource: cmp.Or(a.Resource, s.Resource),
	}
	if client.Resource == noResource {
		client.Resource = ""
	}
	return func(ctx context.Context) (guest.Credential, error) {
		return cloudauth.NewOAuth(ctx, client, tokenClient(), time.Now)
	}, err
}
