package websession

import (
	"container/heap"
	"context"
	"time"
)

// Row is a session as a Table keeps it. The ID is not in it.
type Row struct {
	Hash string // of the ID
	Session
	Ends time.Time // as it was when the row was written
}

// Table keeps the sessions of one gateway on its disk. Changes are kept in their order.
type Table interface {
	// Load yields up to MaxSessions rows that end after a time, and forgets the others.
	Load(ctx context.Context, after time.Time, yield func(Row)) error
	Save(Row)
	Erase(hash string)
	// Flush waits until what was changed before is on the disk.
	Flush(context.Context) error
}

// Open reads the sessions that a process before has left, and keeps each change from then on. A
// process that is killed forgets what was changed within the last commit interval.
func (m *Memory) Open(ctx context.Context, t Table) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := t.Load(ctx, m.now(), func(r Row) {
		if m.sessions[r.Hash] == nil {
			m.add(&kept{Session: r.Session, hash: r.Hash, owner: r.owner(), end: r.Ends})
		}
	})
	if err == nil {
		m.table = t
	}
	return err
}

// add takes a session in; mu is held.
func (m *Memory) add(k *kept) {
	m.sessions[k.hash] = k
	m.owners[k.owner] = append(m.owners[k.owner], k)
	heap.Push(&m.byEnd, k)
}

// save keeps a session; mu is held, for the order.
func (m *Memory) save(k *kept) {
	if m.table != nil {
		m.table.Save(Row{k.hash, k.Session, k.end})
	}
}

// erase forgets a session; mu is held.
func (m *Memory) erase(k *kept) {
	if m.table != nil {
		m.table.Erase(k.hash)
	}
}

// flushTimeout bounds how long a sign-out waits for the disk.
const flushTimeout = 2 * time.Second

// flush waits until a sign-out is on the disk, so that the next process knows of it too. In this
// one the session is over in any case.
func (m *Memory) flush(ctx context.Context) {
	m.mu.Lock()
	t := m.table
	m.mu.Unlock()
	if t != nil {
		ctx, cancel := context.WithTimeout(ctx, flushTimeout)
		defer cancel()
		_ = t.Flush(ctx) // the store says that its disk fails
	}
}

// Text is what a Table keeps of a session, but for its times.
func (r *Row) Text() string { return textOf(&r.Session) }

// SetText sets what Text has returned.
func (r *Row) SetText(text string) (err error) {
	r.Session, err = read(text)
	return err
}
