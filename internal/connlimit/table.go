package connlimit

import "time"

// table keeps what was touched last: at most max entries, each for ttl after its last touch.
// Entries are linked in the order of that touch, so that the next one to remove is known; a touch
// adds one and removes those that are over, so each operation is O(1) amortised.
type table[K comparable, V any] struct {
	max     int
	ttl     time.Duration
	entries map[K]*entry[K, V]

	oldest, newest *entry[K, V]
}

type entry[K comparable, V any] struct {
	key          K
	value        V
	touched      time.Duration
	older, newer *entry[K, V]
}

func newTable[K comparable, V any](limit int, ttl time.Duration) table[K, V] {
	return table[K, V]{max: limit, ttl: ttl, entries: make(map[K]*entry[K, V])}
}

// get returns the value of key, nil where it has none.
func (t *table[K, V]) get(key K, now time.Duration) *V {
	e := t.entries[key]
	if e == nil || now-e.touched >= t.ttl {
		return nil
	}
	return &e.value
}

// touch returns the value of key, new or known, and keeps it for another ttl.
func (t *table[K, V]) touch(key K, now time.Duration) *V {
	for t.oldest != nil && now-t.oldest.touched >= t.ttl {
		t.remove(t.oldest)
	}
	e := t.entries[key]
	if e != nil {
		t.unlink(e)
	} else {
		if len(t.entries) >= t.max {
			t.remove(t.oldest)
		}
		e = &entry[K, V]{key: key}
		t.entries[key] = e
	}
	e.touched = now
	e.older, e.newer = t.newest, nil
	if t.newest != nil {
		t.newest.newer = e
	} else {
		t.oldest = e
	}
	t.newest = e
	return &e.value
}

// take reports whether key has a value, and forgets it.
func (t *table[K, V]) take(key K, now time.Duration) bool {
	known := t.get(key, now) != nil
	if known {
		t.remove(t.entries[key])
	}
	return known
}

func (t *table[K, V]) remove(e *entry[K, V]) {
	t.unlink(e)
	delete(t.entries, e.key)
}

func (t *table[K, V]) unlink(e *entry[K, V]) {
	if e.older != nil {
		e.older.newer = e.newer
	} else {
		t.oldest = e.newer
	}
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		t.newest = e.older
	}
}
