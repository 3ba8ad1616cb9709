// Package runtimekeys is the feature of a gateway by which keys are made and changed while it runs.
package runtimekeys

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"iter"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Feature lets keys be made as the block says; nil: none can be made, and those that were are not
// valid.
func Feature(c gateway.Core, block *runtimekeys.Block) gateway.Feature {
	k := KeptIn(c.Slots, c.Requests.Now)
	m := &Keys{core: c, block: block, made: k.Keys}
	if block != nil {
		c.Requests.Limits.Made = func(from string, of keys.Tenants) iter.Seq[policy.Limited] { return k.Keys.Limited(block, from, of) }
	}
	f := gateway.Feature{
		Offers: m, Keys: source{k.Keys, block}, About: m.about, Made: owned{m},
		Schemas: []store.Schema{runtimekeys.Schema, runtimekeys.SnapshotSchema},
		Apply:   func() { k.current.Store(m) },
	}
	if !c.Several { // else the cluster opens them
		f.Open = func(ctx context.Context, opened *store.Store) error {
			return k.Keys.Open(ctx, runtimekeys.NewTable(opened))
		}
	}
	return f
}

// Kept are the keys of a process. They outlive a configuration.
type Kept struct {
	Keys    *runtimekeys.Keys
	current atomic.Pointer[Keys] // of the current configuration; nil before the first
}

// KeptIn returns the keys of a process.
func KeptIn(s *gateway.Slots, now func() time.Time) *Kept {
	return gateway.Kept(s, func() *Kept { return &Kept{Keys: runtimekeys.New(now, rand.Reader)} })
}

// Changed ends the desktops here of a key that was deleted, disabled or rotated on any gateway of a
// cluster. The one that changed it has told the engine; this is for an engine that is away. Tokens
// of the newest secret were issued after the change.
func (k *Kept) Changed(before, after *runtimekeys.Key) {
	current := k.current.Load()
	if before == nil || current == nil {
		return
	}
	desktops := current.core.Desktops
	if after == nil || !k.Keys.MayStill(current.block, after.Hash(), after.Tenant, keys.WorkstationsConnect) {
		now := current.core.Requests.Now()
		desktops.RevokedElsewhere(before.Tenant, before.Hash(), now, now)
	} else if end := after.EndsSince(before); !end.IsZero() {
		desktops.RevokedElsewhere(before.Tenant, before.Hash(), after.Updated, end)
	}
}

// source has the keys that callers show. It implements [gateway.KeySource].
type source struct {
	keys  *runtimekeys.Keys
	block *runtimekeys.Block
}

func (s source) Authenticate(secret string, now time.Time) (keys.Credential, *policy.KeyLimits, error) {
	return s.keys.Authenticate(s.block, secret, now)
}

func (s source) Held(sum [sha256.Size]byte, now time.Time) (keys.Credential, *policy.KeyLimits, error) {
	return runtimekeys.Held(s.keys, s.block, sum, now)
}

func (s source) IsSecret(text string) bool { return s.keys.IsSecret(text) }

func (s source) MayStill(hash, tenant string, scope keys.Scope) bool {
	return s.keys.MayStill(s.block, hash, tenant, scope)
}

func (s source) LimitsOf(tenant, key string) *policy.KeyLimits {
	made, err := s.keys.Get(keys.EveryTenant(tenant), key)
	if err != nil || s.block == nil {
		return nil
	}
	return made.Grant(s.block).Limits
}

func (source) IsSubject(name string) bool { return runtimekeys.IsSubject(name) }

// about says what keys can be made, to those who make them.
func (m *Keys) about(a *gateway.About, key *keys.Key) {
	b := m.block
	if a.RuntimeKeys = b != nil; b == nil || !key.Has(keys.KeysManage) {
		return
	}
	a.NewKeys = &gateway.AboutNewKeys{
		Scopes: b.Scopes.Names(), Models: append([]string{}, b.Models...), Tools: append([]string{}, b.Tools...), Rates: []string{}, Budgets: []string{},
	}
	for _, rate := range b.Limits.Rates {
		a.NewKeys.Rates = append(a.NewKeys.Rates, rate.String())
	}
	for _, budget := range b.Limits.Budgets {
		a.NewKeys.Budgets = append(a.NewKeys.Budgets, budget.String())
	}
	if c := b.Limits.Concurrency; c.Limit > 0 {
		text := c.String()
		a.NewKeys.Concurrency = &text
	}
	if most := b.Caps.Output; most > 0 {
		a.NewKeys.MaxOutput = &most
	}
}
