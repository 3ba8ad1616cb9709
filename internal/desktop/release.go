package desktop

import (
	"context"
)

// Release is ReleaseBy nobody in particular.
func (g *Registry) Release(ctx context.Context, tenant, name string) error {
	return g.ReleaseBy(ctx, tenant, name, "")
}

// ReleaseBy ends everything at a workstation, for a key: once it has begun, no viewer joins, its sessions end
// and its tokens are dead. It returns nil when the mark is durable, also where the workstation was
// released before. Faults: not_found; storage_unavailable, with the workstation released in memory:
// call it again.
func (g *Registry) ReleaseBy(ctx context.Context, tenant, name, key string) error {
	id := ID{tenant, name}
	if !g.ready.Load() {
		return errNotStarted()
	}
	if h := g.inventory.state.shared; h != nil {
		ctx, cancel := forStorage(ctx)
		defer cancel()
		return h.release(ctx, g, id, key)
	}
	saved, sessions, err := g.mark(id, key)
	if err != nil {
		return err
	}
	if sessions >= 0 {
		g.emit(EventReleased, func() map[string]any {
			return map[string]any{"tenant": tenant, "workstation": name, "sessions": sessions}
		})
	}
	if saved {
		return nil
	}
	ctx, cancel := forStorage(ctx)
	defer cancel()
	done, err := g.lockRecord(ctx, id)
	if err != nil {
		return unavailable(err)
	}
	err = g.save(ctx, id)
	done()
	if err != nil {
		return unavailable(err)
	}
	g.prune(ctx)
	return nil
}

// mark releases in memory. sessions is how many ended, -1 where the workstation was released
// already; saved reports whether the storage has it.
func (g *Registry) mark(id ID, key string) (saved bool, sessions int, err error) {
	s := g.inventory.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if !g.inventory.has(id) {
		return false, 0, notFound(id.Name)
	}
	p := s.entry(id)
	if p.released() {
		return !p.unsaved, -1, nil
	}
	g.markReleased(p)
	return false, s.close(p, key), nil
}

// markReleased is called with mu held.
func (g *Registry) markReleased(p *entry) {
	r := p.record
	r.Version, r.Tenant, r.Name = recordVersion, p.id.Tenant, p.id.Name
	r.Declared = r.Declared || g.inventory.declared[p.id] != nil
	r.touch(g.inventory.state.now())
	r.ReleasedAt = r.ChangedAt
	g.inventory.state.setRecord(p, r, true)
}

// Restore undoes a release, durably: tokens may be issued again, those from before stay dead. It is
// nil where nothing was released. Faults: not_found; storage_unavailable, with nothing changed.
func (g *Registry) Restore(ctx context.Context, tenant, name string) error {
	id, s := ID{tenant, name}, g.inventory.state
	if !g.ready.Load() {
		return errNotStarted()
	}
	ctx, cancel := forStorage(ctx)
	defer cancel()
	done, err := g.lockRecord(ctx, id)
	if err != nil {
		return unavailable(err)
	}
	defer done()
	if err := g.catchUp(ctx); err != nil {
		return unavailable(err)
	}
	s.mu.Lock()
	if !g.inventory.has(id) {
		s.mu.Unlock()
		return notFound(name)
	}
	p := s.entries[id]
	if !p.released() {
		s.mu.Unlock()
		if s.shared != nil {
			s.shared.reopen(ctx, id)
		}
		return nil
	}
	r, changes := p.record, p.changes
	s.mu.Unlock()
	r.touch(s.now())
	r.ReleasedAt = record{}.ReleasedAt
	return g.change(ctx, r, changes)
}

// change stores a record and then applies it. changes is the entry's count when the record was
// made: a release that came since then stays. The caller holds the lock of the record.
func (g *Registry) change(ctx context.Context, r record, changes int) error {
	s := g.inventory.state
	if s.shared != nil {
		return s.shared.change(ctx, r)
	}
	err := g.write(ctx, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.entry(r.id())
	defer s.tidy(p)
	if err != nil {
		// The storage may have stored it all the same. The record in memory is stored again later
		// and must then be newer.
		if p.known {
			p.record.touch(r.ChangedAt)
			p.changes++
			p.unsaved = true
		}
		return unavailable(err)
	}
	unsaved := false
	if p.changes != changes && p.released() {
		r.ReleasedAt = p.record.ReleasedAt
		r.touch(p.record.ChangedAt)
		unsaved = true // the release saves it
	}
	s.setRecord(p, r, unsaved)
	return nil
}
