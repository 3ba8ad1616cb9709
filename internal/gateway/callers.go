package gateway

import (
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// KeySource has keys beside those of the configuration. A key of it is known by Limits of its
// [request.Caller], which are not nil.
type KeySource interface {
	// Authenticate returns what the holder of a secret may do. The error is [keys.ErrInvalid],
	// [keys.ErrLoading], or a refusal.
	Authenticate(secret string, now time.Time) (keys.Credential, *policy.KeyLimits, error)
	// Held is Authenticate for a secret of which only the SHA-256 was kept.
	Held(sum [sha256.Size]byte, now time.Time) (keys.Credential, *policy.KeyLimits, error)
	// IsSecret reports whether text is the secret of a key, valid or not.
	IsSecret(text string) bool
	// MayStill reports whether the key with this hash belongs to the tenant and is valid, with this
	// scope.
	MayStill(hash, tenant string, scope keys.Scope) bool
	// LimitsOf returns the limits of a key, nil if it is not one of the source.
	LimitsOf(tenant, key string) *policy.KeyLimits
	// IsSubject reports whether a subject of the ledger is that of a key of the source.
	IsSubject(name string) bool
}

// Authenticate finds the caller. The error is the same for every kind of bad key. Its text does not
// name the other header that may have the key: Claude Code takes a 401 with that name for
// Anthropic's own, and tells its user to log in there. Resource is the path of the request, if
// secrets can be bound to it; "": none that is bound is good.
func (g *Gateway) Authenticate(secret, resource string) (request.Caller, error) {
	now := g.now()
	var own *policy.KeyLimits
	credential, err := g.keyring.Authenticate(secret, now)
	if err != nil {
		credential, own, err = g.others.find(func(s KeySource) (keys.Credential, *policy.KeyLimits, error) { return s.Authenticate(secret, now) })
	}
	if err == nil && own != nil && own.Holder != nil && own.Holder.Resource != "" && own.Holder.Resource != resource {
		err = keys.ErrInvalid
	}
	if err != nil {
		return request.Caller{}, errUnauthenticated(err)
	}
	return request.Caller{Credential: credential, Secret: secret, User: userOf(own), Limits: own}, nil
}

// userOf is who has a key by a role, "" for other keys.
func userOf(own *policy.KeyLimits) string {
	if own == nil || own.Holder == nil {
		return ""
	}
	return own.Holder.Name
}

// keySources are those of the features of a configuration.
type keySources []KeySource

// find returns the key that the first source has which knows it.
func (all keySources) find(in func(KeySource) (keys.Credential, *policy.KeyLimits, error)) (keys.Credential, *policy.KeyLimits, error) {
	for _, s := range all {
		if credential, own, err := in(s); !errors.Is(err, keys.ErrInvalid) {
			return credential, own, err
		}
	}
	return keys.Credential{}, nil, keys.ErrInvalid
}

// any reports whether ok holds for a source.
func (all keySources) any(ok func(KeySource) bool) bool { return slices.ContainsFunc(all, ok) }

// IsKey reports whether text is the secret of a key of g, valid or not.
func (g *Gateway) IsKey(text string) bool {
	return g.keyring.IsSecret(text) || g.others.any(func(s KeySource) bool { return s.IsSecret(text) })
}

func errUnauthenticated(err error) error {
	var refusal *apierror.Error
	if errors.As(err, &refusal) {
		return refusal
	}
	if errors.Is(err, keys.ErrLoading) {
		return apierror.New(apierror.StorageUnavailable, "the gateway has just started and does not know all keys yet; try again").WithCause(err)
	}
	return errInvalidKey()
}

func errInvalidKey() error {
	return apierror.New(apierror.InvalidAPIKey, "the API key is missing or not valid: send a gateway key as \"Authorization: Bearer <key>\"")
}

// Callers are those whom a configuration knows. The errors are those of [Gateway.Authenticate].
type Callers struct{ gateway *Gateway }

// Authenticate is [Gateway.Authenticate] for secrets that are good everywhere.
func (c Callers) Authenticate(secret string) (request.Caller, error) {
	return c.gateway.Authenticate(secret, "")
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
		credential, own, err = g.others.find(func(s KeySource) (keys.Credential, *policy.KeyLimits, error) { return s.Held(sum, now) })
		if err != nil {
			return request.Caller{}, errUnauthenticated(err)
		}
	}
	if credential.Name != key || credential.Tenant != tenant || !credential.Valid(now) {
		return request.Caller{}, errInvalidKey()
	}
	return request.Caller{Credential: credential, SignedIn: secretHash, User: userOf(own), Limits: own}, nil
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
