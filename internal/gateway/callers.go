package gateway

import (
	"errors"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

// Authenticate finds the caller. The error is the same for every kind of bad key. Its text does not
// name the other header that may have the key: Claude Code takes a 401 with that name for
// Anthropic's own, and tells its user to log in there.
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

// Callers are those whom a configuration knows. The errors are those of [Gateway.Authenticate].
type Callers struct{ gateway *Gateway }

// Authenticate is [Gateway.Authenticate].
func (c Callers) Authenticate(secret string) (request.Caller, error) {
	return c.gateway.Authenticate(secret)
}

// CallerOf returns the caller that has once shown a secret of this SHA-256 (hex), by the tenant and
// the name of its key, as the key is now: it must still be the one that it was then.
func (c Callers) CallerOf(tenant, key, secretHash string) (request.Caller, error) {
	g := c.gateway
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
	if credential.Name != key || credential.Tenant != tenant || !credential.Valid(now) {
		return request.Caller{}, errInvalidKey()
	}
	return request.Caller{Credential: credential, SignedIn: secretHash, Limits: own}, nil
}

// CallerNamed returns the holder of a key of the configuration, for a person whom somebody else has
// authenticated.
func (c Callers) CallerNamed(key string) (request.Caller, error) {
	credential, ok := c.gateway.keyring.Named(key)
	if !ok || !credential.Valid(c.gateway.now()) {
		return request.Caller{}, errInvalidKey()
	}
	return request.Caller{Credential: credential, SignedIn: credential.Hash}, nil
}

// Knows reports whether the configuration has a key of this name, valid or not.
func (c Callers) Knows(key string) bool {
	_, ok := c.gateway.keyring.Named(key)
	return ok
}

// Any reports whether ok holds for the caller that CallerOf returns in a configuration that has
// started and is not retired.
func (c Callers) Any(tenant, key, secretHash string, ok func(request.Caller) bool) bool {
	return c.gateway.state.generations.any(func(g *Gateway) bool {
		caller, err := Callers{g}.CallerOf(tenant, key, secretHash)
		return err == nil && ok(caller)
	})
}
