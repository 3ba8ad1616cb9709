package runtimekeys

import (
	"bytes"
	"encoding/hex"
	"iter"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Limited yields the limits of the keys of some tenants under a block, sorted by the names of their
// subjects, from this name on. Of many keys only a part is copied and sorted at a time, and the keys of
// other tenants cost nearly nothing.
func (s *Keys) Limited(b *Block, from string, of keys.Tenants) iter.Seq[policy.Limited] {
	return func(yield func(policy.Limited) bool) {
		for i := range s.byID.shards {
			last := subjectPrefix + hex.EncodeToString([]byte{byte(i)}) + "~" // sorts after every hash of the shard
			shard := s.byID.shards[i].Load()
			if shard == nil || last < from {
				continue
			}
			var sorted []*Key
			for _, key := range shard.keys {
				if of.Has(key.Tenant) {
					sorted = append(sorted, key)
				}
			}
			slices.SortFunc(sorted, func(a, b *Key) int { return bytes.Compare(a.ID[:], b.ID[:]) })
			for _, key := range sorted {
				if key.Subject() < from {
					continue
				}
				if l := key.limited(b); l.Any() && !yield(l) {
					return
				}
			}
		}
	}
}

// limited returns the key's own limits under a block, without the budgets that only count.
func (k *Key) limited(b *Block) policy.Limited {
	own := b.within(k.own())
	own.Budgets = slices.DeleteFunc(own.Budgets, func(b limits.Budget) bool { return b.Limit == limits.NoLimit })
	return policy.Limited{Subject: &own, Tenant: k.Tenant}
}
