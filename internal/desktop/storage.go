package desktop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

const (
	turnstiles     = 64               // workstations whose records can change at one time
	storageTimeout = 10 * time.Second // of one change; a storage that hangs fails it
	pruneEvery     = time.Hour
	maxPrune       = 64 // records that one call deletes, lest it be slow
)

// lockRecord waits until no other call changes the record of id in storage. Memory
// does not wait: a release holds before its record is written.
func (g *Registry) lockRecord(ctx context.Context, id ID) (done func(), err error) {
	s := g.inventory.state
	gate := s.turns[id.key()[len(storageDir)+1]%turnstiles]
	select {
	case gate <- struct{}{}:
		return func() { <-gate }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// forStorage is the context of a change that must not stop half-way because its caller has gone.
func forStorage(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storageTimeout)
}

func unavailable(err error) error {
	return apierror.New(apierror.StorageUnavailable, "the storage of workstations does not answer").WithCause(err)
}

// Ready is the fault storage_unavailable until Start has succeeded: until then it is not known
// which workstations are released.
func (g *Registry) Ready() error {
	if !g.ready.Load() {
		return errNotStarted()
	}
	return nil
}

// catchUp has the records of other gateways in memory, if there are some.
func (g *Registry) catchUp(ctx context.Context) error {
	if h := g.inventory.state.shared; h != nil {
		return h.records.CatchUp(ctx)
	}
	return nil
}

// write stores a record.
func (g *Registry) write(ctx context.Context, r record) error {
	value, err := r.encode()
	if err != nil {
		return err
	}
	return g.storage.Store(ctx, r.id().key(), value)
}

// save stores the record in memory of id. The caller holds the lock of the record.
func (g *Registry) save(ctx context.Context, id ID) error {
	s := g.inventory.state
	s.mu.Lock()
	p := s.entries[id]
	if p == nil || !p.known {
		s.mu.Unlock()
		return nil
	}
	r, changes := p.record, p.changes
	s.mu.Unlock()
	if err := g.write(ctx, r); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.changes == changes {
		p.unsaved = false
	}
	return nil
}

// Start reads registrations and release marks and lets the service be used. After an error it is
// not known which workstations are released, so none may open. A value that cannot be read is named
// by its key. Records of memory that the storage lacks are written to it, so that a reload may name
// another storage.
func (g *Registry) Start(ctx context.Context) error {
	if h := g.inventory.state.shared; h != nil {
		if err := h.start(ctx, g); err != nil {
			return err
		}
		g.ready.Store(true)
		g.prune(ctx)
		return nil
	}
	keys, err := g.storage.List(ctx, storageDir, false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("listing %s in the storage: %w", storageDir, err)
	}
	seen := make(map[string]bool, len(keys))
	for _, key := range keys {
		if !strings.HasPrefix(key, storageDir+"/") {
			return fmt.Errorf("listing %s in the storage: %q is not under it", storageDir, key)
		}
		if isRecordKey(key) {
			seen[key] = true
			if err := g.load(ctx, key); err != nil {
				return err
			}
		}
	}
	g.adopt()
	for _, id := range g.unstored(seen) {
		if err := g.rewrite(ctx, id); err != nil {
			return fmt.Errorf("storing the record of workstation %s: %w", id, err)
		}
	}
	g.ready.Store(true)
	g.prune(ctx)
	return nil
}

func (g *Registry) load(ctx context.Context, key string) error {
	value, err := g.storage.Load(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading workstation record %s: %w", key, err)
	}
	r, err := decodeRecord(key, value)
	if err != nil {
		return err
	}
	s := g.inventory.state
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.entry(r.id())
	if p.known && !r.newer(&p.record) {
		// A release that came while this was read is newer, and saves itself.
		p.unsaved = p.unsaved || p.record.newer(&r)
		return nil
	}
	s.setRecord(p, r, false)
	if p.released() {
		s.close(p, "")
	}
	return nil
}

// adopt makes release marks of what d declares last: a workstation that was registered and released
// at run time, and is declared now, must not open because its record has become old.
func (g *Registry) adopt() {
	s := g.inventory.state
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range g.inventory.declared {
		if p := s.entries[id]; p.released() && !p.record.Declared {
			r := p.record
			r.Declared = true
			r.touch(s.now())
			s.setRecord(p, r, true)
		}
	}
}

// unstored lists workstations whose record must be written.
func (g *Registry) unstored(seen map[string]bool) []ID {
	s := g.inventory.state
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []ID
	for id, p := range s.entries {
		if p.known && (p.unsaved || !seen[id.key()]) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (g *Registry) rewrite(ctx context.Context, id ID) error {
	done, err := g.lockRecord(ctx, id)
	if err != nil {
		return err
	}
	defer done()
	return g.save(ctx, id)
}

// prune takes old records out of memory and storage, at most once an hour. A
// deletion that fails is made up for by a later Start.
func (g *Registry) prune(ctx context.Context) {
	for _, id := range g.forgetOld() {
		g.erase(ctx, id)
	}
}

func (g *Registry) forgetOld() []ID {
	s := g.inventory.state
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if now.Before(s.pruneAt) {
		return nil
	}
	var ids []ID
	for id, p := range s.entries {
		if !p.known || !p.record.old(now) {
			continue
		}
		if len(ids) == maxPrune {
			return ids // the next call goes on
		}
		s.dropRecord(p)
		ids = append(ids, id)
	}
	s.pruneAt = now.Add(pruneEvery)
	return ids
}

// erase deletes the stored record of a workstation that memory has forgotten.
func (g *Registry) erase(ctx context.Context, id ID) {
	ctx, cancel := forStorage(ctx)
	defer cancel()
	done, err := g.lockRecord(ctx, id)
	if err != nil {
		return
	}
	defer done()
	s := g.inventory.state
	s.mu.Lock()
	p := s.entries[id]
	back := p != nil && p.known
	s.mu.Unlock()
	switch {
	case back:
	case s.shared != nil:
		s.shared.erase(ctx, id)
	default:
		_ = g.storage.Delete(ctx, id.key()) // see prune
	}
}
