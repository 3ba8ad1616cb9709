package desktop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

const (
	storageTimeout = 10 * time.Second // of one change; a storage that hangs fails it
	pruneEvery     = time.Hour
	maxPrune       = 64 // records that one call deletes, lest it be slow
)

// lockRecord waits until no other call changes the record of id in storage. Memory
// does not wait: a release holds before its record is written.
func (g *Registry) lockRecord(ctx context.Context, id ID) (done func(), err error) {
	s := g.inventory.state
	gate := s.turns[id.turn()]
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
	s.records.mu.Lock()
	p := s.records.byID[id]
	if p == nil || !p.known {
		s.records.mu.Unlock()
		return nil
	}
	r, changes := p.record, p.changes
	s.records.mu.Unlock()
	if err := g.write(ctx, r); err != nil {
		return err
	}
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	if p.changes == changes {
		p.unsaved = false
	}
	return nil
}

// Start reads registrations and release marks and lets the service be used. After an error it is
// not known which workstations are released, so none may open. A value that cannot be read is named
// by its key. What memory has and the storage lacks is written, so that a reload may change the
// storage.
func (g *Registry) Start(ctx context.Context) error {
	g.inventory.state.sourcesNow(g.inventory.config.sources)
	if g.inventory.state.shared != nil {
		if err := g.startShared(ctx); err != nil {
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
	g.inventory.state.records.adopt(g.inventory.config.declared, g.inventory.state.now())
	for _, id := range g.inventory.state.records.missing(seen) {
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
	switch taken, released := s.records.take(r); {
	case released:
		s.sessions.endAt(r.id(), math.MaxInt64, ReasonReleased, "")
		g.tell(r.id(), 0, "")
	case taken:
		s.sessions.reopen(ctx, r.id())
	}
	return nil
}

// rewrite stores the record in memory of id.
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
	s := g.inventory.state
	for _, id := range s.records.forgetOld(s.now()) {
		g.erase(ctx, id)
	}
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
	s.records.mu.Lock()
	p := s.records.byID[id]
	back := p != nil && p.known
	s.records.mu.Unlock()
	switch {
	case back:
	case s.shared != nil:
		_ = s.shared.records.Delete(ctx, id, s.shared.seen.Load()) // a later start forgets it again
	default:
		_ = g.storage.Delete(ctx, id.key()) // see prune
		s.sessions.reopen(ctx, id)          // it would be kept for good; unknown, it is not open
	}
}
