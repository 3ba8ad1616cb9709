package desktop

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

const (
	// syncTogether is how many are stored in one transaction, which others wait for.
	syncTogether = 256
	// syncWorkers store one each at a time: a file is written in milliseconds, of which most is waiting.
	syncWorkers = 8
)

// register registers items that were checked.
func (l *Sync) register(ctx context.Context, g *Registry, tenant string, todo []*syncItem, done *Synced) (failed error) {
	if g.inventory.state.shared != nil {
		for items := range slices.Chunk(todo, syncTogether) {
			if err := registerTogether(ctx, g, tenant, items, done); err != nil {
				return err
			}
		}
		return nil
	}
	var mu sync.Mutex // guards done and failed
	var all sync.WaitGroup
	next := make(chan *syncItem)
	for range min(syncWorkers, len(todo)) {
		all.Go(func() {
			for item := range next {
				n, err := g.register(ctx, ID{tenant, item.name}, item.Registration)
				g.inventory.state.logins.forget(ID{tenant, item.name})
				mu.Lock()
				failed = cmp.Or(failed, done.count(item.name, n, err))
				mu.Unlock()
			}
		})
	}
	for _, item := range todo {
		mu.Lock()
		failed = cmp.Or(failed, ctx.Err()) // the caller has left
		stop := failed != nil
		mu.Unlock()
		if stop {
			break
		}
		next <- item
	}
	close(next)
	all.Wait()
	if failed != nil && failed == ctx.Err() {
		return unavailable(failed)
	}
	return failed
}

// registerTogether registers items in one transaction, where gateways share the records.
func registerTogether(caller context.Context, g *Registry, tenant string, items []*syncItem, done *Synced) error {
	ctx, cancel := forStorage(caller)
	defer cancel()
	s := g.inventory.state
	if err := cmp.Or(caller.Err(), s.catchUp(ctx)); err != nil {
		return unavailable(err)
	}
	var plans []plan
	for _, item := range items {
		id := ID{tenant, item.name}
		n, err := g.plan(id, item.Registration)
		if err != nil {
			done.refuse(item.name, err)
			continue
		}
		if n.created {
			defer s.records.unreserve(id)
		}
		plans = append(plans, n)
	}
	if len(plans) == 0 {
		return nil
	}
	stored, err := s.store(ctx, plans...)
	if err != nil {
		return unavailable(err)
	}
	for i, n := range plans {
		id := n.record.id()
		ended := tellShared(ctx, g, n, stored[i])
		s.logins.forget(id)
		if n.evicted.Name != "" {
			g.erase(ctx, n.evicted)
		}
		if n.replaces {
			g.emit.released(id, ended)
		}
		if err := done.count(id.Name, n, nil); err != nil {
			return err
		}
	}
	return nil
}
