package runtimekeys

import (
	"crypto/sha256"
	"time"
	"weak"

	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// Grant is what a key may do under one block: no more than the block, and no more than its own
// settings.
type Grant struct {
	keys.Credential
	Limits *policy.KeyLimits

	// block is weak: keys outlive configurations, and one that is seldom used would keep the models
	// and limits of an old one in memory.
	block weak.Pointer[Block]
}

// Grant returns what the key may do under a block.
func (k *Key) Grant(b *Block) *Grant {
	if g := k.grant.Load(); g != nil && g.block.Value() == b {
		return g
	}
	more := k.extensions()
	scopes := b.Scopes
	if len(more.Scopes) > 0 {
		own, _ := keys.ParseScopes(more.Scopes) // checked when the key was made
		scopes &= own
	}
	hash := k.Hash()
	g := &Grant{
		Credential: keys.Credential{Hash: hash, Key: keys.NewRuntimeKey(keys.Key{
			Name: hash, Tenant: k.Tenant, Scopes: scopes, HostedTools: b.HostedTools, Expires: k.Expires,
		}, more.Models, b.Models).WithTools(more.Tools, b.Tools, b.TenantTools[k.Tenant])},
		block: weak.Make(b),
	}
	own := b.within(k.own())
	var err error
	if g.Limits, err = b.Shared.RuntimeKey(k.Tenant, own, b.caps(&k.Settings), b.Unpriced); err != nil {
		g.Key.Scopes = 0 // a key whose limits cannot be kept may do nothing
	}
	k.grant.Store(g)
	return g
}

// valid reports whether the key is neither disabled nor expired.
func (k *Key) valid(now time.Time) bool {
	return !k.Disabled && (k.Expires.IsZero() || now.Before(k.Expires))
}

// MayStill reports whether the key with this hash belongs to the tenant and is valid, with this
// scope. It is for what outlives a request, such as a desktop.
func (s *Keys) MayStill(b *Block, hash, tenant string, scope keys.Scope) bool {
	key := s.find(hash)
	return b != nil && key != nil && key.Tenant == tenant && key.valid(s.now()) && key.Grant(b).Has(scope)
}

// Authenticate returns what the holder of a secret may do. The error is [keys.ErrInvalid], or
// [keys.ErrLoading].
func (s *Keys) Authenticate(b *Block, secret string, now time.Time) (keys.Credential, *policy.KeyLimits, error) {
	sum, ok := keys.Sum(secret)
	if !ok {
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	return Held(s, b, sum, now)
}

// Held is [Keys.Authenticate] for a secret that was presented earlier, and of which only the SHA-256 was kept.
func Held(s *Keys, b *Block, sum Sum, now time.Time) (keys.Credential, *policy.KeyLimits, error) {
	if b == nil {
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	credential, limits, err := s.authenticate(b, sum, now)
	shared, ok := s.table.(*PostgresTable)
	if err == nil || !ok {
		return credential, limits, err
	}
	shared.refresh() // another gateway may have made the key or let it in again just now
	credential, limits, err = s.authenticate(b, sum, now)
	if err != nil && shared.loading() {
		err = keys.ErrLoading
	}
	return credential, limits, err
}

// authenticate is Authenticate with what is known here.
func (s *Keys) authenticate(b *Block, sum [sha256.Size]byte, now time.Time) (keys.Credential, *policy.KeyLimits, error) {
	key := s.bySecret.get(sum)
	if key == nil || !key.valid(now) {
		return keys.Credential{}, nil, keys.ErrInvalid
	}
	g := key.Grant(b)
	for _, secret := range key.Secrets {
		switch {
		case secret.Sum != sum:
		case secret.Until.IsZero():
			return g.Credential, g.Limits, nil
		case now.Before(secret.Until):
			return g.until(secret.Until), g.Limits, nil
		}
	}
	return keys.Credential{}, nil, keys.ErrInvalid
}

// until returns the credential of a secret that ends before its key: so do the desktops that its
// holder opens.
func (g *Grant) until(end time.Time) keys.Credential {
	key := *g.Key
	if key.Expires.IsZero() || end.Before(key.Expires) {
		key.Expires = end
	}
	return keys.Credential{Key: &key, Hash: g.Hash}
}

// IsSecret reports whether text is the secret of a key, valid or not.
func (s *Keys) IsSecret(text string) bool {
	if s.count.Load() == 0 {
		return false
	}
	sum, ok := keys.Sum(text)
	return ok && s.bySecret.get(sum) != nil
}
