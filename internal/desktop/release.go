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
// released before. Its errors are: not_found; storage_unavailable, with the workstation released in memory:
// call it again.
func (g *Registry) ReleaseBy(ctx context.Context, tenant, name, key string) error {
	id := ID{tenant, name}
	if !g.ready.Load() {
		return errNotStarted()
	}
	if source := g.inventory.sourceOf(id); source != nil {
		return g.dismiss(ctx, source, id, key)
	}
	ctx, cancel := forStorage(ctx)
	defer cancel()
	s := g.inventory.state
	looking, stop := context.WithTimeout(ctx, storeTimeout)
	fresh := s.catchUp(looking) == nil
	stop()
	r, already, stored, err := g.mark(id)
	if err != nil || stored && fresh {
		return err
	}
	sessions := s.sessions.endAt(id, ReasonReleased, key)
	announce := func() {
		if !already {
			g.emit(EventReleased, func() map[string]any {
				return map[string]any{"tenant": tenant, "workstation": name, "sessions": sessions}
			})
		}
	}
	if s.shared == nil {
		g.tell(id, 0, key)
		announce()
		err = g.rewrite(ctx, id)
	} else {
		sessions, err = g.shareRelease(ctx, r, key, fresh, sessions)
		announce()
	}
	if err != nil {
		return unavailable(err)
	}
	g.prune(ctx)
	return nil
}

// mark releases in memory. already reports whether the workstation was released before, and stored
// whether the records say so.
func (g *Registry) mark(id ID) (r record, already, stored bool, err error) {
	s := g.inventory.state
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	if !g.inventory.has(id) {
		return record{}, false, false, notFound(id.Name)
	}
	p := s.records.entry(id)
	already = p.released()
	if stored = already && !p.unsaved; !stored {
		g.markReleased(p)
	}
	return p.record, already, stored, nil
}

// shareRelease makes a release durable where gateways share the records, and tells the store of its
// number. Where the store cannot be reached, the other gateways read it in the records. If these are not
// fresh, the store comes first: whoever asks again may do so in a while. It returns how many sessions
// end, of all gateways.
func (g *Registry) shareRelease(ctx context.Context, r record, key string, fresh bool, here int) (sessions int, err error) {
	if sessions = here; !fresh {
		sessions += g.tell(r.id(), 0, key)
	}
	generation, err := g.inventory.state.store(ctx, r, key)
	if err == nil || fresh {
		sessions += g.tell(r.id(), generation, key) // 0: it is not stored
	}
	return sessions, err
}

// tell tells the store of a release, and returns how many sessions of other gateways end.
func (g *Registry) tell(id ID, generation int64, key string) (elsewhere int) {
	s := g.inventory.state
	release := func(ctx context.Context) error {
		return s.sessions.apply(ctx, id, func(w *Workstation) {
			elsewhere = 0
			for _, x := range w.release(generation, key, s.now()) {
				if s.sessions.get(id, x.ID) == nil {
					elsewhere++
				}
			}
		})
	}
	ctx, cancel := message()
	defer cancel()
	if release(ctx) != nil {
		s.sessions.again(func(ctx context.Context) error {
			if generation == 0 && !s.records.unstored(id) {
				return nil // it was stored meanwhile, or taken back
			}
			return release(ctx)
		})
	}
	return elsewhere
}

// markReleased is called with mu held.
func (g *Registry) markReleased(p *entry) {
	r := p.record
	r.Version, r.Tenant, r.Name = recordVersion, p.id.Tenant, p.id.Name
	r.Declared = r.Declared || g.inventory.config.declared[p.id] != nil
	r.touch(g.inventory.state.now())
	r.ReleasedAt = r.ChangedAt
	g.inventory.state.records.set(p, r, true)
}

// Restore undoes a release, durably: tokens may be issued again, those from before stay dead. It is
// nil where nothing was released. Its errors are: not_found; storage_unavailable, with nothing changed.
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
	if err := s.catchUp(ctx); err != nil {
		return unavailable(err)
	}
	s.records.mu.Lock()
	if !g.inventory.has(id) {
		s.records.mu.Unlock()
		return notFound(name)
	}
	p := s.records.byID[id]
	if !p.released() {
		s.records.mu.Unlock()
		s.sessions.reopen(ctx, id)
		return nil
	}
	r, changes := p.record, p.changes
	s.records.mu.Unlock()
	r.touch(s.now())
	r.ReleasedAt = record{}.ReleasedAt
	return g.change(ctx, r, changes)
}

// change stores a record and then applies it. changes is the entry's count when the record was
// made: a release that came since then stays. The caller holds the lock of the record.
func (g *Registry) change(ctx context.Context, r record, changes int) error {
	s := g.inventory.state
	if s.shared != nil { // another change of the record that comes at the same time is before or after it
		if _, err := s.store(ctx, r, ""); err != nil {
			return unavailable(err)
		}
		s.sessions.reopen(ctx, r.id())
		return nil
	}
	err := g.write(ctx, r)
	if err == nil {
		defer s.sessions.reopen(ctx, r.id()) // where it was released meanwhile, the record says so
	}
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	p := s.records.entry(r.id())
	defer s.records.tidy(p)
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
	s.records.set(p, r, unsaved)
	return nil
}
