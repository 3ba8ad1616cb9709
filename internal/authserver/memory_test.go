package authserver

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// memory is a Store in memory.
type memory struct {
	mu      sync.Mutex
	records map[ID]Record
	loading bool
}

// newMemory returns an empty store.
func newMemory() *memory { return &memory{records: map[ID]Record{}} }

// Load implements Store.
func (m *memory) Load(_ context.Context, kinds []Kind, yield func(Record)) error {
	m.mu.Lock()
	all := slices.Collect(maps.Values(m.records))
	m.mu.Unlock()
	for _, r := range all {
		if slices.Contains(kinds, r.Kind) {
			yield(r)
		}
	}
	return nil
}

// Get implements Store.
func (m *memory) Get(_ context.Context, id ID) (Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.records[id]
	return r, ok, nil
}

// Change implements Store.
func (m *memory) Change(_ context.Context, id ID, edit func(*Record) (Record, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var before *Record
	if r, ok := m.records[id]; ok {
		before = &r
	}
	after, err := edit(before)
	if err == nil {
		m.records[id] = after
	}
	return err
}

// Loading implements Store.
func (m *memory) Loading() bool { return m.loading }

// Follow implements Store: nobody else changes it.
func (*memory) Follow(func(Record)) {}
