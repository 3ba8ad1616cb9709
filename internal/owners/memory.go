package owners

import (
	"fmt"
	"sync"
	"time"
)

// maxEntries is about 16 MiB of usual IDs, three times that of the longest.
const maxEntries = 65_536

// memory has the newest owners. Its zero value is empty.
type memory struct {
	mu      sync.Mutex // guards the following
	entries map[key]entry
	order   []key // keys of entries, oldest first from next on; a ring buffer once it is full
	next    int
}

// claim makes e the owner, unless another tenant is.
func (m *memory) claim(k key, e entry, now time.Time) error {
	if len(k.id) > MaxID {
		return fmt.Errorf("%q…: %w", k.id[:32], ErrTooLong)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.entries[k]; ok && old.tenant != e.tenant && old.expires.After(now) {
		return fmt.Errorf("%q at %q: %w", k.id, k.provider, ErrOwned)
	}
	m.put(k, e)
	return nil
}

func (m *memory) get(k key) (entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[k]
	return e, ok
}

// set replaces what is known of k.
func (m *memory) set(k key, e entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(k, e)
}

// add notes what was read elsewhere, and returns what is known: that is newer.
func (m *memory) add(k key, e entry) entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if newer, ok := m.entries[k]; ok {
		return newer
	}
	m.put(k, e)
	return e
}

// renew is add, unless what is known has ended.
func (m *memory) renew(k key, e entry, now time.Time) entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if newer, ok := m.entries[k]; ok && newer.expires.After(now) {
		return newer
	}
	m.put(k, e)
	return e
}

// put must be called with mu held.
func (m *memory) put(k key, e entry) {
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
	m.entries[k] = e
}
