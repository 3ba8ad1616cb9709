package websession

import (
	"container/heap"
	"context"
	"slices"
	"sync"
	"time"
)

// pollInterval is the time between two polls of the sessions that are watched.
const pollInterval = time.Second

// Memory keeps the sessions of one gateway. They outlive a configuration, and the process if Open
// has a table for them.
type Memory struct {
	now     func() time.Time
	watches watches

	mu       sync.Mutex // guards the following
	sessions map[string]*kept
	owners   map[string][]*kept
	byEnd    byEnd
	polling  bool  // a goroutine polls the sessions that are watched
	table    Table // nil: they are in memory alone
}

// NewMemory returns a store without sessions.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{now: now, sessions: make(map[string]*kept), owners: make(map[string][]*kept)}
}

// Create implements [Store].
func (m *Memory) Create(_ context.Context, s Session, life Life) (string, error) {
	id, hash := newID()
	m.mu.Lock()
	defer m.mu.Unlock()
	now, owner := m.now(), s.owner()
	m.removeEnded(now)
	if of := m.owners[owner]; len(of) >= MaxOfOwner {
		m.remove(slices.MinFunc(of, func(a, b *kept) int { return a.end.Compare(b.end) }))
	} else if len(m.sessions) >= MaxSessions {
		m.remove(m.byEnd[0])
	}
	s.Started, s.Used = now, now
	k := &kept{Session: s, hash: hash, owner: owner, end: life.end(&s)}
	m.add(k)
	m.save(k)
	return id, nil
}

// removeEnded removes the sessions that have ended by themselves; mu is held.
func (m *Memory) removeEnded(now time.Time) {
	for len(m.byEnd) > 0 && !now.Before(m.byEnd[0].end) {
		m.remove(m.byEnd[0])
	}
}

// remove takes a session out; mu is held.
func (m *Memory) remove(k *kept) {
	m.erase(k)
	delete(m.sessions, k.hash)
	heap.Remove(&m.byEnd, k.at)
	m.owners[k.owner] = slices.DeleteFunc(m.owners[k.owner], func(other *kept) bool { return other == k })
	if len(m.owners[k.owner]) == 0 {
		delete(m.owners, k.owner)
	}
}

// Find implements [Store].
func (m *Memory) Find(_ context.Context, id string, life Life) (Session, bool, error) {
	return m.findID(id, life, m.now())
}

// Peek implements [Store].
func (m *Memory) Peek(_ context.Context, id string, life Life) (Session, bool, error) {
	return m.findID(id, life, time.Time{})
}

func (m *Memory) findID(id string, life Life, used time.Time) (Session, bool, error) {
	hash, ok := hashOf(id)
	if !ok {
		return Session{}, false, nil
	}
	s, ok := m.find(hash, life, used)
	return s, ok, nil
}

// find returns a session that lives, and notes when it was used.
func (m *Memory) find(hash string, life Life, used time.Time) (Session, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, now := m.sessions[hash], m.now()
	if k == nil {
		return Session{}, false
	}
	if !now.Before(k.end) || !now.Before(life.end(&k.Session)) {
		m.remove(k)
		return Session{}, false
	}
	if used.Sub(k.Used) >= life.Idle/touchShare {
		k.Used = used
		k.end = life.end(&k.Session)
		heap.Fix(&m.byEnd, k.at)
		m.save(k)
	}
	return k.Session, true
}

// Update implements [Store].
func (m *Memory) Update(_ context.Context, id string, s Session) error {
	hash, _ := hashOf(id)
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.sessions[hash]; k != nil {
		s.Started, s.Used = k.Started, k.Used
		k.Session = s
		m.save(k)
	}
	return nil
}

// Delete implements [Store].
func (m *Memory) Delete(ctx context.Context, id string) error {
	hash, ok := hashOf(id)
	if !ok {
		return nil
	}
	m.mu.Lock()
	k := m.sessions[hash]
	if k != nil {
		m.remove(k)
	}
	m.mu.Unlock()
	if m.watches.ended(hash); k != nil {
		m.flush(ctx)
	}
	return nil
}

// Retain implements [Store].
func (m *Memory) Retain(keep func(Session) bool) {
	var gone []string
	for hash, s := range m.all() {
		if !keep(s) {
			gone = append(gone, hash)
		}
	}
	m.mu.Lock()
	for _, hash := range gone {
		if k := m.sessions[hash]; k != nil {
			m.remove(k)
		}
	}
	m.mu.Unlock()
	m.watches.ended(gone...)
}

func (m *Memory) all() map[string]Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[string]Session, len(m.sessions))
	for hash, k := range m.sessions {
		all[hash] = k.Session
	}
	return all
}

// OnEnd implements [Store].
func (m *Memory) OnEnd(id string, life Life, used func() time.Time, f func()) (stop func()) {
	hash, _ := hashOf(id)
	stop = m.watches.add(hash, life, waiting{used, f})
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.polling {
		m.polling = true
		go m.poll()
	}
	return stop
}

// poll notes when sessions that are watched were used, and finds those that have ended, until none is
// watched.
func (m *Memory) poll() {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for m.watching() {
		for _, w := range m.watches.all() {
			if _, ok := m.find(w.hash, w.life, w.used); !ok {
				m.watches.ended(w.hash)
			}
		}
		<-tick.C
	}
}

// watching reports whether a session is watched; if none is, poll has ended.
func (m *Memory) watching() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.polling = m.watches.some()
	return m.polling
}

// Len implements [Store].
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.removeEnded(m.now())
	return len(m.sessions)
}

var _ Store = (*Memory)(nil)

// kept is a session and its end, as it was when it was last written.
type kept struct {
	Session
	hash, owner string
	end         time.Time
	at          int // in byEnd
}

// byEnd is a heap of sessions: the one that ends first is in front.
type byEnd []*kept

func (b byEnd) Len() int           { return len(b) }
func (b byEnd) Less(i, j int) bool { return b[i].end.Before(b[j].end) }

func (b byEnd) Swap(i, j int) {
	b[i], b[j] = b[j], b[i]
	b[i].at, b[j].at = i, j
}

func (b *byEnd) Push(x any) {
	k := x.(*kept)
	k.at = len(*b)
	*b = append(*b, k)
}

func (b *byEnd) Pop() any {
	last := len(*b) - 1
	k := (*b)[last]
	(*b)[last] = nil
	*b = (*b)[:last]
	return k
}
