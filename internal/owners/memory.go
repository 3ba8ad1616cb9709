package owners

import (
	"fmt"
	"sync"
	"time"
)

// maxEntries is about 16 MiB of usual IDs, three times that of the longest.
const maxEntries = 65_536

type key struct{ provider, id string }

type entry struct {
	kind, tenant string
	expires      time.Time
}

// is reports whether the ID may be of a kind.
func (e entry) is(kind string) bool { return e.kind == kind || e.kind == "" }

// memory has the newest owners. Its zero value is empty.
type memory struct {
	mu      sync.Mutex // guards the following
	entries map[key]entry
	order   []key // keys of entries, oldest first from next on; a ring buffer once it is full
	next    int
}

// claim makes r's tenant the owner, unless another one is.
func (m *memory) claim(r Row) error {
	if len(r.ID) > MaxID {
		return fmt.Errorf("%q…: %w", r.ID[:32], ErrTooLong)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, ok := m.entries[key{r.Provider, r.ID}]
	if ok && old.tenant != r.Tenant && old.expires.After(r.At) {
		return fmt.Errorf("%q at %q: %w", r.ID, r.Provider, ErrOwned)
	}
	m.put(r)
	return nil
}

func (m *memory) get(k key) (entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[k]
	return e, ok
}

// set replaces what is known of r's ID.
func (m *memory) set(r Row) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(r)
}

// add notes what was read elsewhere, and returns the entry that is known: a valid one is newer.
func (m *memory) add(r Row, now time.Time) entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if newer, ok := m.entries[key{r.Provider, r.ID}]; ok && newer.expires.After(now) {
		return newer
	}
	m.put(r)
	return entry{r.Kind, r.Tenant, r.Expires}
}

// put must be called with mu held.
func (m *memory) put(r Row) {
	k := key{r.Provider, r.ID}
	if m.entries == nil {
		m.entries = make(map[key]entry)
	}
	if _, ok := m.entries[k]; !ok {
		if len(m.order) < maxEntries {
			m.order = append(m.order, k)
		} else {
			delete(m.entries, m.order[m.next])
			m.order[m.next] = k
			m.next = (m.next + 1) % maxEntries
		}
	}
	m.entries[k] = entry{r.Kind, r.Tenant, r.Expires}
}
