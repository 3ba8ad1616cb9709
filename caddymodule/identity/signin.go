package identity

import (
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	people "github.com/gatehouse-proxy/gatehouse/internal/features/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/features/signin"
)

// SignIns is what sign-ins at identity providers need of the gateway.
type SignIns struct {
	// Origin is where browsers see the gateway: "https://ai.example.com". Needed where an identity
	// has a client. It is never taken from a request.
	Origin string `json:"origin,omitempty"`

	// EncryptionSecrets encrypt what is kept of sign-ins in cookies and rows: {env.NAME} or
	// {file./path}, at least 32 bytes. The first encrypts, all decrypt. Several gateways need the
	// same. Default: one that ends with the process.
	EncryptionSecrets []string `json:"encryption_secrets,omitempty" placeholders:"yes"`
}

// IdentityClient is the gateway as a client of an OpenID provider, where people sign in.
type IdentityClient struct {
	// ID is what the provider calls the gateway. Required, and none of the audiences.
	ID string `json:"id"`

	// Secret is {env.NAME} or {file./path}. Required.
	Secret string `json:"secret" placeholders:"yes"`

	// Scopes are asked for when somebody signs in. Default: openid, profile, email.
	Scopes []string `json:"scopes,omitempty"`
}

// readClient reads the gateway as a client:
//
//	client ID SECRET
//	scopes SCOPE…
func (i *Identity) readClient(d *caddyfile.Dispenser) error {
	i.client()
	if !d.AllArgs(&i.Client.ID, &i.Client.Secret) {
		return d.ArgErr()
	}
	return nil
}

func (i *Identity) readScopes(d *caddyfile.Dispenser) error {
	return caddykit.Words(&i.client().Scopes).Read(d)
}

func (i *Identity) client() *IdentityClient {
	if i.Client == nil {
		i.Client = new(IdentityClient)
	}
	return i.Client
}

// encryptionSecrets resolves the secrets that encrypt what is kept of sign-ins.
func (f *Feature) encryptionSecrets(b *core.Build) (secrets []string, err error) {
	for _, text := range f.EncryptionSecrets {
		value, err := core.ResolveSecret(b.Ctx.Logger(), "encryption_secret", text)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, value)
	}
	b.Hide(secrets...)
	return secrets, nil
}

// signIns checks what sign-ins need. Nil: no identity has a client.
func (f *Feature) signIns(b *core.Build, identities *people.Config, encryption []string) (config *signin.Config, err error) {
	s := signin.Settings{Origin: f.Origin, Secrets: encryption, HTTP: issuersClient(), Now: time.Now}
	for _, i := range f.Identities {
		if i.Client == nil {
			continue
		}
		client := signin.Client{Identity: i.Name, ID: i.Client.ID, Scopes: i.Client.Scopes}
		owner := fmt.Sprintf("identity %q: client", i.Name)
		if client.ID == "" || i.Client.Secret == "" {
			return nil, errors.New(owner + ": want its id and its secret")
		}
		if client.Secret, err = core.ResolveSecret(b.Ctx.Logger(), owner, i.Client.Secret); err != nil {
			return nil, err
		}
		s.Clients = append(s.Clients, client)
		b.Hide(client.Secret)
	}
	switch {
	case len(s.Clients) == 0:
		return nil, nil
	case b.Several() && len(s.Secrets) == 0:
		return nil, errors.New("encryption_secret is missing: a browser comes back from its identity provider to any gateway of the cluster")
	}
	return signin.NewConfig(s, identities)
}
