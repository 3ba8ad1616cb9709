package authserver

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/authserver"
	"github.com/gatehouse-proxy/gatehouse/internal/features/authserver/upstream"
	people "github.com/gatehouse-proxy/gatehouse/internal/features/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// forPrograms are the rights that a token of a sign-in can have, if the role has them: who confirms
// a code may be deceived about what it is for (RFC 8628, section 5.4), so none is for operators.
const forPrograms = keys.ChatWrite | keys.ModelsRead | keys.MCPCall | keys.LimitsRead | keys.WorkstationsConnect | keys.WorkstationsAutomate

// tokens are those of sign-ins. It is a KeySource of a gateway.
type tokens struct {
	server *authserver.Server
	state  *authserver.State
	at     upstream.Provider
	people *people.People
	now    func() time.Time
}

func (t *tokens) granted(p authserver.Person) (keys.Credential, *policy.KeyLimits, error) {
	return t.people.Granted(people.Person{ID: p.ID, Hash: p.Hash, Name: p.Name, Role: p.Role})
}

// Authenticate returns what the holder of a token may do. The error is [keys.ErrInvalid], or says
// that the store or the identity provider is away.
func (t *tokens) Authenticate(token string, _ time.Time) (keys.Credential, *policy.KeyLimits, error) {
	in, until, err := t.server.Find(context.Background(), token) // all that is asked has a bound of a few seconds
	switch {
	case errors.Is(err, authserver.ErrAway):
		return keys.Credential{}, nil, apierror.New(apierror.IdentityUnavailable,
			"your identity provider cannot be asked now whether it still lets you in; try again").WithCause(err)
	case errors.Is(err, authserver.ErrUnavailable):
		return keys.Credential{}, nil, errAway(err)
	case err != nil:
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	return t.caller(in, until)
}

func errAway(cause error) error {
	return apierror.New(apierror.StorageUnavailable, "the gateway cannot look up the sign-in now; try again").WithCause(cause)
}

// Held is Authenticate for a token of which only the SHA-256 was kept.
func (t *tokens) Held(sum [sha256.Size]byte, _ time.Time) (keys.Credential, *policy.KeyLimits, error) {
	in, until, ok := t.state.Held(sum)
	if !ok {
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	return t.caller(in, until)
}

func (t *tokens) caller(in *authserver.SignIn, until time.Time) (keys.Credential, *policy.KeyLimits, error) {
	credential, limits, err := t.granted(in.Person)
	if err != nil || !slices.Contains(t.at.Choices(), in.Person.Identity) || !t.at.Still(in.Person) {
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	if most := t.at.MaxLife(in.Person.Identity); most > 0 && in.Refreshed.Add(most).Before(until) {
		until = in.Refreshed.Add(most)
	}
	if !t.now().Before(until) {
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	key := *credential.Key
	key.Scopes &= rightsOf(in.Grant)
	key.AllTenants, key.Expires = false, until
	credential.Key, credential.Issued = &key, true
	if in.Grant.Client == (authserver.Sum{}) {
		return credential, limits, nil
	}
	bound, holder := *limits, *limits.Holder
	holder.Resource, holder.Client, bound.Holder = in.Grant.Resource, true, &holder
	return credential, &bound, nil
}

// rightsOf are the rights that the tokens of a grant can have. Those for a server of tools have
// what its tools need.
func rightsOf(g authserver.Grant) keys.Scope {
	if g.Resource != "" {
		return keys.MCPCall | keys.WorkstationsAutomate
	}
	asked, err := keys.ParseScopes(g.Scopes)
	if len(g.Scopes) == 0 && g.Client == (authserver.Sum{}) {
		asked = forPrograms
	}
	if err != nil { // of a newer version
		return 0
	}
	return asked & forPrograms
}

// IsSecret reports whether a text is a token of the gateway, valid or not.
func (*tokens) IsSecret(text string) bool { return authserver.IsToken(text) }

// find returns what somebody may do who is signed in, by the hash, and has all these rights.
func (t *tokens) find(hash string, scope keys.Scope) (credential keys.Credential, limits *policy.KeyLimits, ok bool) {
	in := t.state.Last(hash, func(g authserver.Grant) bool { return rightsOf(g)&scope == scope })
	if in == nil {
		return credential, nil, false
	}
	credential, limits, err := t.caller(in, in.Until())
	return credential, limits, err == nil
}

// MayStill reports whether somebody, with this hash, has a token that has not ended.
func (t *tokens) MayStill(hash, tenant string, scope keys.Scope) bool {
	credential, _, ok := t.find(hash, scope)
	return ok && credential.Tenant == tenant && credential.Has(scope)
}

// LimitsOf returns the limits of somebody, nil if nobody who is signed in has this name.
func (t *tokens) LimitsOf(tenant, key string) *policy.KeyLimits {
	credential, limits, ok := t.find(people.HashOf(key), 0)
	if !ok || credential.Tenant != tenant {
		return nil
	}
	return limits
}

// IsSubject reports whether a subject of the ledger can be that of somebody: the identities know
// those.
func (*tokens) IsSubject(string) bool { return false }
