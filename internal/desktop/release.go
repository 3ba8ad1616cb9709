package desktop

import (
	"context"
	"errors"
	"math"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Releaser is who releases a workstation, and which.
type Releaser struct {
	Key string // "" if it is not known
	// Machine is the one that is released, nil for any: another one that has the name by now stays.
	Machine *string
}

// may refuses the release of another machine.
func (by *Releaser) may(p *entry) error {
	if by.Machine == nil || p != nil && p.record.Machine == *by.Machine {
		return nil
	}
	return apierror.New(apierror.WorkstationGeneration, "another machine has the name of the workstation by now")
}

// Release ends everything at a workstation: once it has begun, no viewer joins, its sessions end
// and its tokens are dead. It returns nil when the mark is durable, also where the workstation was
// released before. Its errors are: not_found; workstation_generation; storage_unavailable, with the
// workstation released in memory: call it again.
func (g *Registry) Release(ctx context.Context, tenant, name string, by Releaser) error {
	id := ID{tenant, name}
	if !g.ready.Load() {
		return errNotStarted()
	}
	if source := sourcesOf(g.inventory).of(id); source != nil {
		return (&Sources{g.inventory, g.emit}).dismiss(ctx, source, id, by)
	}
	ctx, cancel := forStorage(ctx)
	defer cancel()
	s := g.inventory.state
	looking, stop := context.WithTimeout(ctx, storeTimeout)
	fresh := s.catchUp(looking) == nil
	stop()
	seen := int64(anyChange)
	if by.Machine != nil && s.shared != nil {
		seen = s.shared.seen.Load()
	}
	r, already, stored, err := g.mark(id, by)
	if err != nil || stored && fresh {
		return err
	}
	var sessions int
	if s.shared == nil {
		sessions = g.endHere(id, by.Key)
		err = g.rewrite(ctx, id)
	} else {
		sessions, err = g.shareRelease(ctx, r, seen, by.Key, fresh)
	}
	if !already {
		g.emit.released(id, sessions)
	}
	if err != nil {
		return unavailable(err)
	}
	g.prune(ctx)
	return nil
}

// endHere ends what is open at a workstation that is marked as released, where no other gateway is.
func (g *Registry) endHere(id ID, key string) (sessions int) {
	sessions = g.inventory.state.sessions.endAt(id, math.MaxInt64, ReasonReleased, key)
	g.tell(id, 0, key)
	return sessions
}

// mark releases in memory. already reports whether the workstation was released before, and stored
// whether the records say so.
func (g *Registry) mark(id ID, by Releaser) (r record, already, stored bool, err error) {
	s := g.inventory.state
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	if !g.inventory.has(id) {
		return record{}, false, false, notFound(id.Name)
	}
	if err := by.may(s.records.byID[id]); err != nil {
		return record{}, false, false, err
	}
	p := s.records.entry(id)
	already = p.released()
	if stored = already && !p.unsaved; !stored {
		s.records.release(p, g.inventory.config.declared[p.id] != nil)
	}
	return p.record, already, stored, nil
}

// shareRelease makes a release durable where gateways share the records, and tells the store of its
// number. Where the store cannot be reached, the other gateways read it in the records. If these are not
// fresh, the store comes first: whoever asks again may do so in a while. It returns how many sessions
// end, of all gateways.
func (g *Registry) shareRelease(ctx context.Context, r record, seen int64, key string, fresh bool) (sessions int, err error) {
	sessions = g.inventory.state.sessions.endAt(r.id(), math.MaxInt64, ReasonReleased, key)
	if !fresh {
		sessions += g.tell(r.id(), 0, key)
	}
	generation := int64(0)
	stored, err := g.inventory.state.store(ctx, plan{record: r, seen: seen, by: key})
	switch {
	case errors.Is(err, ErrChanged):
		return sessions, err // by another machine, which stays
	case err == nil:
		generation = stored[0]
	case !fresh:
		return sessions, err
	}
	return sessions + g.tell(r.id(), generation, key), err // 0: it is not stored
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
		s.sessions.queueRetry(func(ctx context.Context) error {
			if generation == 0 && !s.records.unstored(id) {
				return nil // it was stored meanwhile, or taken back
			}
			return release(ctx)
		})
	}
	return elsewhere
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
	_, err = change(ctx, g, plan{record: r, changes: changes, seen: anyChange})
	return err
}

// change stores the record of a plan and then applies it: a release that came since the plan was made
// stays. It returns how many sessions at another machine have ended. The caller holds the lock of the
// record.
func change(ctx context.Context, g *Registry, n plan) (ended int, err error) {
	s, r := g.inventory.state, n.record
	if s.shared != nil {
		here := len(s.sessions.views(r.id()))
		stored, err := s.store(ctx, n)
		if err != nil {
			return 0, unavailable(err)
		}
		return here + tellShared(ctx, g, n, stored[0]), nil
	}
	if n.replaces {
		ended = g.endHere(r.id(), n.by)
	}
	if err = g.changeHere(ctx, r, n.changes); err == nil {
		endAsked(ctx, g, n)
	}
	return ended, err
}

// tellShared has the store know what was stored of a plan, and returns how many sessions of other
// gateways end.
func tellShared(ctx context.Context, g *Registry, n plan, generation int64) (elsewhere int) {
	id := n.record.id()
	if n.replaces {
		elsewhere = g.tell(id, generation, n.by)
	}
	g.inventory.state.sessions.reopen(ctx, id)
	endAsked(ctx, g, n)
	return elsewhere
}

// changeHere is change where no other gateway is.
func (g *Registry) changeHere(ctx context.Context, r record, changes int) error {
	s := g.inventory.state
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
