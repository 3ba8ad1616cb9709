package sqlite

import (
	"hash/maphash"
	"sync"
)

// shardCount spreads look-ups over locks, so that no lock is shared by all calls. It is a power of
// two.
const shardCount = 64

// table finds items by name and bounds their number to about limit.
type table[T any] struct {
	seed   maphash.Seed
	limit  int // per shard
	shards [shardCount]shard[T]
}

type shard[T any] struct {
	mu sync.RWMutex // guards items
	// A shard has at most limit items, so a loop over them never holds the read lock for long.
	items map[string]*T
}

func (t *table[T]) init(limit int) {
	t.seed = maphash.MakeSeed()
	t.limit = max(limit/shardCount, 1)
	for i := range t.shards {
		t.shards[i].items = make(map[string]*T)
	}
}

func (t *table[T]) shard(name string) *shard[T] {
	return &t.shards[t.index(name)]
}

func (t *table[T]) index(name string) int { return int(maphash.String(t.seed, name) % shardCount) }

// get returns the item of that name, and creates it if it is missing. It returns nil if the shard
// is full.
func (t *table[T]) get(name string, build func(name string) *T) *T {
	s := t.shard(name)
	s.mu.RLock()
	item := s.items[name]
	s.mu.RUnlock()
	if item != nil {
		return item
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if item = s.items[name]; item == nil && len(s.items) < t.limit {
		item = build(name)
		s.items[name] = item
	}
	return item
}

// find returns the item of that name, nil if there is none.
func (t *table[T]) find(name string) *T {
	s := t.shard(name)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.items[name]
}

// all returns a copy of the items.
func (t *table[T]) all() []*T {
	var items []*T
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.RLock()
		for _, item := range s.items {
			items = append(items, item)
		}
		s.mu.RUnlock()
	}
	return items
}

// sweep removes the items of name's shard for which drop returns true. drop is called with the
// shard locked.
func (t *table[T]) sweep(name string, drop func(*T) bool) {
	s := t.shard(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, item := range s.items {
		if drop(item) {
			delete(s.items, name)
		}
	}
}
