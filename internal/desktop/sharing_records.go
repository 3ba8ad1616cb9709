package desktop

import (
	"context"
	"errors"
	"fmt"
)

// Apply makes a stored record that of its workstation, unless a later one is, and ends what it
// releases. It is called with all changes, in their order.
func (h *Sharing) Apply(c StoredRecord) error {
	var r record
	if c.Value != nil {
		var err error
		if r, err = decodeRecord(c.ID.key(), c.Value); err != nil {
			return err
		}
	}
	s := h.state
	s.mu.Lock()
	defer s.mu.Unlock()
	h.seen.Store(max(h.seen.Load(), c.Seq))
	p := s.entry(c.ID)
	defer s.tidy(p)
	if c.Seq <= p.seq {
		return nil
	}
	p.seq, p.generation = c.Seq, c.Generation
	if c.Value == nil {
		s.close(p, "")
		s.dropRecord(p)
		return nil
	}
	address := p.record.Address
	s.setRecord(p, r, false)
	if p.released() {
		s.close(p, c.ReleasedBy)
	}
	if p.record.Address != address {
		s.logins.forget(c.ID)
	}
	return nil
}

// store stores a record and applies it.
func (h *Sharing) store(ctx context.Context, r record, releasedBy string) (generation int64, err error) {
	value, err := r.encode()
	if err != nil {
		return 0, err
	}
	stored, err := h.records.Store(ctx, StoredRecord{ID: r.id(), Value: value, Released: !r.ReleasedAt.IsZero(), ReleasedBy: releasedBy})
	if err != nil {
		return 0, err
	}
	return stored.Generation, h.Apply(stored)
}

// start reads the records for a service, see Registry.Start. While they are away, a service that comes
// after another begins with what was read before: this gateway goes on following them.
func (h *Sharing) start(ctx context.Context, g *Registry) error {
	err := h.records.CatchUp(ctx)
	away := h.read.Load() && errors.Is(err, ErrAway)
	if err != nil && !away {
		return fmt.Errorf("reading the records of workstations: %w", err)
	}
	h.read.Store(true)
	g.adopt()
	if away {
		return nil // what is not stored is stored by a later start
	}
	for _, r := range h.unsaved() {
		if _, err := h.store(ctx, r, ""); err != nil {
			return fmt.Errorf("storing the record of workstation %s: %w", r.id(), err)
		}
	}
	return nil
}

// unsaved are the records that are not stored.
func (h *Sharing) unsaved() (records []record) {
	h.state.mu.Lock()
	defer h.state.mu.Unlock()
	for _, p := range h.state.entries {
		if p.known && p.unsaved {
			records = append(records, p.record)
		}
	}
	return records
}

// erase deletes an old record, unless it has changed since this gateway last looked.
func (h *Sharing) erase(ctx context.Context, id ID) {
	_ = h.records.Delete(ctx, id, h.seen.Load()) // a later start forgets it again
}

// change stores a registration or a restored record. Another change of the same record that comes at
// the same time is before or after it.
func (h *Sharing) change(ctx context.Context, r record) error {
	if _, err := h.store(ctx, r, ""); err != nil {
		return unavailable(err)
	}
	h.reopen(ctx, r.id())
	return nil
}

// reopen takes back a release that could not be stored.
func (h *Sharing) reopen(ctx context.Context, id ID) {
	if h.engine.Reopen(ctx, id) != nil {
		h.again(func(ctx context.Context) error { return h.engine.Reopen(ctx, id) })
	}
}

// release is Registry.Release: first here, then in the records, then in the engine, which tells the
// other gateways. Where the engine cannot be reached they read it in the records. If the records
// cannot be read, the engine comes first: whoever asks again may do so in a while.
func (h *Sharing) release(ctx context.Context, g *Registry, id ID, key string) error {
	s := h.state
	looking, cancel := context.WithTimeout(ctx, engineTimeout)
	fresh := h.records.CatchUp(looking) == nil
	cancel()
	s.mu.Lock()
	if !g.inventory.has(id) {
		s.mu.Unlock()
		return notFound(id.Name)
	}
	p := s.entry(id)
	if fresh && p.released() && !p.unsaved {
		s.mu.Unlock()
		return nil
	}
	g.markReleased(p)
	r, sessions := p.record, s.close(p, key)
	s.mu.Unlock()

	if !fresh {
		sessions += h.tell(id, 0, key)
	}
	generation, err := h.store(ctx, r, key)
	if err == nil || fresh {
		sessions += h.tell(id, generation, key) // 0: it is not stored
	}
	g.emit(EventReleased, func() map[string]any {
		return map[string]any{"tenant": id.Tenant, "workstation": id.Name, "sessions": sessions}
	})
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// tell tells the engine of a release, and returns how many sessions of other gateways end.
func (h *Sharing) tell(id ID, generation int64, key string) (elsewhere int) {
	ctx, cancel := message()
	defer cancel()
	elsewhere, err := h.engine.Release(ctx, id, generation, key)
	if err != nil {
		h.again(func(ctx context.Context) error {
			if generation == 0 && !h.unstored(id) {
				return nil // it was stored meanwhile, or taken back
			}
			_, err := h.engine.Release(ctx, id, generation, key)
			return err
		})
	}
	return elsewhere
}

// unstored reports whether the workstation is released here, and the records do not say so.
func (h *Sharing) unstored(id ID) bool {
	h.state.mu.Lock()
	defer h.state.mu.Unlock()
	p := h.state.entries[id]
	return p.released() && p.unsaved
}
