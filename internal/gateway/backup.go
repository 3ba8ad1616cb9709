package gateway

import (
	"context"
	"os"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Backup makes a copy of the gateway's database while it is in use: see [store.Backup].
func Backup(ctx context.Context, g *Gateway) (copied *os.File, remove func(), err error) {
	opened := g.state.stores.opened.Load()
	if opened == nil {
		return nil, nil, store.ErrClosed
	}
	return store.Backup(ctx, opened)
}
