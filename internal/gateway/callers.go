package gateway

import (
	"context"
	"errors"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

// Authenticate finds the caller. The error is the same for every kind of bad key. Its text does not
// name the other header that may have the key: Claude Code takes a 401 with that name for Anthropic's
// own, and tells its user to log in there.
func (g *Gateway) Authenticate(secret string) (request.Caller, error) {
	now := g.now()
	credential, err := g.keyring.Authenticate(secret, now)
	if err == nil {
		return request.Caller{Credential: credential, Secret: secret}, nil
	}
	credential, own, err := g.state.runtimeKeys.Authenticate(g.runtime, secret, now)
	if err != nil {
		return request.Caller{}, errUnauthenticated(err)
	}
	return request.Caller{Credential: credential, Secret: secret, Limits: own}, nil
}

// IsKey reports whether text is the secret of a key of g, valid or not.
func IsKey(g *Gateway, text string) bool {
	return g.keyring.IsSecret(text) || g.state.runtimeKeys.IsSecret(text)
}

func errUnauthenticated(err error) error {
	if errors.Is(err, runtimekeys.ErrLoading) {
		return apierror.New(apierror.StorageUnavailable, "the gateway has just started and does not know all keys yet; try again").WithCause(err)
	}
	return errInvalidKey()
}

func errInvalidKey() error {
	return apierror.New(apierror.InvalidAPIKey, "the API key is missing or not valid: send a gateway key as \"Authorization: Bearer <key>\"")
}

// callerOf is Authenticate for a caller that has signed in with a secret of this SHA-256 (hex). The key
// must still be the one that it was then.
func (g *Gateway) callerOf(tenant, name, secretHash string) (request.Caller, error) {
	now := g.now()
	credential, ok := g.keyring.Held(secretHash)
	var own *policy.KeyLimits
	if !ok {
		sum, _ := keys.ParseSum(secretHash)
		var err error
		if credential, own, err = runtimekeys.Held(g.state.runtimeKeys, g.runtime, sum, now); err != nil {
			return request.Caller{}, errUnauthenticated(err)
		}
	}
	if credential.Name != name || credential.Tenant != tenant || !credential.Valid(now) {
		return request.Caller{}, errInvalidKey()
	}
	return request.Caller{Credential: credential, SignedIn: secretHash, Limits: own}, nil
}

// Console is the part of a gateway that signs people in at the console.
type Console struct{ gateway *Gateway }

// ForConsole returns the part of g that signs people in at the console.
func ForConsole(g *Gateway) Console { return Console{g} }

// Ready is [Gateway.Ready].
func (c Console) Ready(ctx context.Context) error { return c.gateway.Ready(ctx) }

// Authenticate is [Gateway.Authenticate].
func (c Console) Authenticate(secret string) (request.Caller, error) {
	return c.gateway.Authenticate(secret)
}

// CallerOf returns the caller that has signed in with a key, by the key's tenant and name and by
// [request.Caller.SecretHash], as the key is now. The error is that of Authenticate if the key is
// gone, expired or disabled, or has another secret.
func (c Console) CallerOf(tenant, name, secretHash string) (request.Caller, error) {
	return c.gateway.callerOf(tenant, name, secretHash)
}

// CallerNamed returns the holder of a key of the configuration, for a person whom somebody else has
// authenticated. The error is that of Authenticate.
func (c Console) CallerNamed(name string) (request.Caller, error) {
	credential, ok := c.gateway.keyring.Named(name)
	if !ok || !credential.Valid(c.gateway.now()) {
		return request.Caller{}, errInvalidKey()
	}
	return request.Caller{Credential: credential, SignedIn: credential.Hash}, nil
}
