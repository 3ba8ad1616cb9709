package workstation

import (
	"context"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Release ends everything at a workstation: once it has begun nobody joins,
// its sessions end, its tokens are dead. It returns nil when the mark is
// durable, also where the workstation was released before. Faults: not_found;
// storage_unavailable, with the workstation released in memory: call it again.
func (d *Service) Release(ctx context.Context, tenant, name string) error {
	id, s := ID{tenant, name}, d.state
	if !d.ready.Load() {
		return errNotStarted()
	}
	saved, sessions, err := s.mark(d, id)
	if err != nil {
		return err
	}
	if sessions >= 0 {
		d.emit(EventReleased, map[string]any{"tenant": tenant, "workstation": name, "sessions": sessions})
	}
	if saved {
		return nil
	}
	ctx, cancel := forStorage(ctx)
	defer cancel()
	done, err := s.lockRecord(ctx, id)
	if err != nil {
		return unavailable(err)
	}
	err = d.save(ctx, id)
	done()
	if err != nil {
		return unavailable(err)
	}
	d.prune(ctx)
	return nil
}

// mark releases in memory. sessions is how many ended, -1 where the workstation
// was released already; saved tells that storage knows.
func (s *State) mark(d *Service, id ID) (saved bool, sessions int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !d.has(id) {
		return false, 0, notFound(id.Name)
	}
	p := s.entry(id)
	if p.released() {
		return !p.unsaved, -1, nil
	}
	r := p.record
	r.Version, r.Tenant, r.Name = recordVersion, id.Tenant, id.Name
	r.Declared = r.Declared || d.declared[id] != nil
	r.touch(s.now())
	r.ReleasedAt = r.ChangedAt
	s.setRecord(p, r, true)
	return false, s.close(p), nil
}

// close ends what a released place has; mu is held.
func (s *State) close(p *entry) int {
	n := s.endAt(p, ReasonReleased)
	for len(p.tokens) > 0 {
		s.retire(p.tokens[0], released)
	}
	return n
}

// Restore undoes a release, durably: tokens may be issued again, those from
// before stay dead. It is nil where nothing was released. Faults: not_found;
// storage_unavailable, with nothing changed.
func (d *Service) Restore(ctx context.Context, tenant, name string) error {
	id, s := ID{tenant, name}, d.state
	if !d.ready.Load() {
		return errNotStarted()
	}
	ctx, cancel := forStorage(ctx)
	defer cancel()
	done, err := s.lockRecord(ctx, id)
	if err != nil {
		return unavailable(err)
	}
	defer done()
	s.mu.Lock()
	if !d.has(id) {
		s.mu.Unlock()
		return notFound(name)
	}
	p := s.entries[id]
	if !p.released() {
		s.mu.Unlock()
		return nil
	}
	r, changes := p.record, p.changes
	s.mu.Unlock()
	r.touch(s.now())
	r.ReleasedAt = record{}.ReleasedAt
	return d.change(ctx, r, changes)
}

// change stores a record and then applies it. changes is the entry's count when
// the record was made: a release that came since then stays. The caller holds
// the lock of the record.
func (d *Service) change(ctx context.Context, r record, changes int) error {
	s := d.state
	err := d.write(ctx, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.entry(r.id())
	defer s.tidy(p)
	if err != nil {
		// The storage may have taken it all the same; what memory says is said
		// again later, and must then be newer.
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

// EndSession ends one session by hand and withdraws its token: the viewer would
// be back in a second. Other sessions of the token go on. Fault: not_found.
func (d *Service) EndSession(tenant, name, sid string) error {
	s := d.state
	s.mu.Lock()
	defer s.mu.Unlock()
	id := ID{tenant, name}
	if !d.has(id) {
		return notFound(name)
	}
	if p := s.entries[id]; p != nil {
		if x := p.sessions[sid]; x != nil {
			s.retire(x.token, revoked)
			s.end(x, ReasonEnded)
			return nil
		}
	}
	return apierror.New(apierror.NotFound, "workstation %q has no session %q", clip(name), clip(sid))
}
