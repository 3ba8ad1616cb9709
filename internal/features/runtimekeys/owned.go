package runtimekeys

import (
	"context"
	"errors"
	"iter"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

// owned are the keys that people have made. It implements [gateway.Made].
type owned struct{ keys *Keys }

// Owners implements [gateway.Made].
func (o owned) Owners() iter.Seq2[string, string] {
	return func(yield func(id, name string) bool) {
		for _, key := range runtimekeys.Owned(o.keys.made) {
			if !yield(key.Owner.ID, key.Owner.Name) {
				return
			}
		}
	}
}

// EndOf implements [gateway.Made].
func (o owned) EndOf(ctx context.Context, person string) (n int, err error) {
	o.keys.catchUp(ctx)
	for _, key := range runtimekeys.Owned(o.keys.made) {
		if key.Owner.ID != person {
			continue
		}
		if failed := o.keys.Delete(ctx, Manager{Name: "operator", Tenants: keys.EveryTenant("")}, key.Hash()); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		n++
	}
	return n, err
}
