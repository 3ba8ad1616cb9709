package core

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
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

// readOAuth reads a client of an authorization server:
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
func (a *Access) readOAuth(d *caddyfile.Dispenser) error {
	var grant string
	if !d.AllArgs(&grant) {
		return d.ArgErr()
	}
	if grant != "client_credentials" {
		return d.Errf("oauth %q: want client_credentials", grant)
	}
	if a.Auth != nil {
		return d.Err("auth and oauth: give only one of them")
	}
	client := new(OAuth)
	a.Auth = &Auth{OAuth: client}
	return caddykit.Options{
		"token_url":     caddykit.Word(&client.TokenURL),
		"client_id":     caddykit.Word(&client.ClientID),
		"client_secret": caddykit.Word(&client.ClientSecret),
		"auth_method":   caddykit.Word(&client.AuthMethod),
		"scope":         caddykit.Words(&client.Scopes),
		"audience":      caddykit.Word(&client.Audience),
		"resource":      caddykit.Word(&client.Resource),
	}.Block(d)
}
