// Package authserver is the feature of a gateway by which people sign in to programs: the gateway is
// their authorization server, and an identity provider says who they are.
package authserver

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/authserver"
	"github.com/gatehouse-proxy/gatehouse/internal/authserver/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// forDevices are the rights that a token of a sign-in can have, if the role has them: who confirms a
// code may be deceived about what it is for (RFC 8628, section 5.4), so none is for operators.
const forDevices = keys.ChatWrite | keys.ModelsRead | keys.MCPCall | keys.LimitsRead | keys.WorkstationsConnect | keys.WorkstationsAutomate

// SignIns are those of a configuration. It implements [gateway.KeySource].
type SignIns struct {
	*authserver.Server
	people Roles
	core   gateway.Core
}

// Roles say what people may do.
type Roles interface {
	// Granted returns what somebody may do by the role. The error is [keys.ErrInvalid] if there is
	// no such role any more.
	Granted(p identity.Person) (keys.Credential, *policy.KeyLimits, error)
}

// KeptIn returns the sign-ins of a process.
func KeptIn(s *gateway.Slots, now func() time.Time) *authserver.State {
	return gateway.Kept(s, func() *authserver.State { return authserver.NewState(now) })
}

// Feature lets people sign in to programs; a nil server: nobody can, and tokens are not good.
func Feature(c gateway.Core, server *authserver.Server, provider authserver.Provider, people Roles) gateway.Feature {
	state := KeptIn(c.Slots, c.Requests.Now)
	f := gateway.Feature{Offers: struct{}{}, Schemas: []store.Schema{sqlite.Schema}}
	if !c.Several { // else the cluster opens it
		f.Open = func(ctx context.Context, opened *store.Store) error {
			return state.Open(ctx, sqlite.New(opened, c.Requests.Now))
		}
	}
	if server == nil {
		f.Apply = func() { state.Told(func(authserver.Person) {}) }
		return f
	}
	s := &SignIns{Server: server.With(state, provider, c.Requests.Logger), people: people, core: c}
	f.Offers, f.Keys, f.Apply = s, s, func() { state.Told(s.ended) }
	return f
}

// ended ends the desktops of somebody whose sign-in has ended, unless there is another.
func (s *SignIns) ended(p authserver.Person) {
	if s.Last(p.Hash) != nil {
		return
	}
	credential, _, err := s.people.Granted(personOf(p))
	if err != nil {
		return // a reload has ended them
	}
	now := s.core.Requests.Now()
	s.core.Desktops.RevokedElsewhere(credential.Tenant, p.Hash, now, now)
}

func personOf(p authserver.Person) identity.Person {
	return identity.Person{ID: p.ID, Hash: p.Hash, Name: p.Name, Role: p.Role}
}

// Authenticate returns what the holder of a token may do. The error is [keys.ErrInvalid], or a
// refusal.
func (s *SignIns) Authenticate(token string, _ time.Time) (keys.Credential, *policy.KeyLimits, error) {
	in, until, err := s.Find(context.Background(), token) // the store is asked for a few seconds at most
	switch {
	case errors.Is(err, authserver.ErrUnavailable):
		return keys.Credential{}, nil, apierror.New(apierror.StorageUnavailable, "the gateway cannot look up the sign-in now; try again").WithCause(err)
	case err != nil:
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	return s.caller(in, until)
}

// Held is Authenticate for a token of which only the SHA-256 was kept.
func (s *SignIns) Held(sum [sha256.Size]byte, _ time.Time) (keys.Credential, *policy.KeyLimits, error) {
	in, until, ok := s.Server.Held(sum)
	if !ok {
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	return s.caller(in, until)
}

func (s *SignIns) caller(in *authserver.SignIn, until time.Time) (keys.Credential, *policy.KeyLimits, error) {
	credential, limits, err := s.people.Granted(personOf(in.Person))
	if err != nil {
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	key := *credential.Key
	key.Scopes &= forDevices
	key.AllTenants, key.Expires = false, until
	credential.Key = &key
	return credential, limits, nil
}

// IsSecret reports whether a text is a token of the gateway, valid or not.
func (s *SignIns) IsSecret(text string) bool { return authserver.IsToken(text) }

// find returns what somebody may do who is signed in, by the hash.
func (s *SignIns) find(hash string) (credential keys.Credential, limits *policy.KeyLimits, ok bool) {
	in := s.Last(hash)
	if in == nil {
		return credential, nil, false
	}
	credential, limits, err := s.caller(in, in.Until())
	return credential, limits, err == nil
}

// MayStill reports whether somebody, with this hash, has a token that has not ended.
func (s *SignIns) MayStill(hash, tenant string, scope keys.Scope) bool {
	credential, _, ok := s.find(hash)
	return ok && credential.Tenant == tenant && credential.Has(scope)
}

// LimitsOf returns the limits of somebody, nil if nobody who is signed in has this name.
func (s *SignIns) LimitsOf(tenant, key string) *policy.KeyLimits {
	credential, limits, ok := s.find(identity.HashOf(key))
	if !ok || credential.Tenant != tenant {
		return nil
	}
	return limits
}

// IsSubject reports whether a subject of the ledger can be that of somebody: those of the identities
// are known by them.
func (*SignIns) IsSubject(string) bool { return false }
