package store

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// maxDelay is the longest that a full queue may hold up the end of a model call.
	maxDelay = 100 * time.Millisecond
	// unsized is what an operation counts that is not Sized, in bytes.
	unsized = 256
)

var (
	// ErrDropped is returned by Submit for a droppable operation when the queue stayed full; Dropped counts it.
	ErrDropped = errors.New("the store's queue is full, operation dropped")
	// ErrFull is returned by Submit for an operation that may not be dropped when too many of those wait for a failing
	// disk: it was not taken, the caller keeps it.
	ErrFull = errors.New("the store's queue is full")
)

// Op is one change, applied by the writer together with others.
type Op interface {
	// Apply writes. It is called again from the start when its group failed to commit, so it must change nothing but
	// the transaction, or only what a second call repeats. An error that is not a failing disk takes this operation
	// out of the group and leaves no trace of it.
	Apply(*Tx) error
	// Droppable operations are given up when the queue is full; the others never.
	Droppable() bool
}

// Sized is an Op that knows about how much memory it holds, in bytes. What it says must not change.
type Sized interface {
	Op
	Size() int
}

func sizeOf(op Op) int {
	if sized, ok := op.(Sized); ok {
		return sized.Size()
	}
	return unsized
}

// Batch is an Op that costs less when it is written together with others of its type.
type Batch interface {
	Op
	// ApplyBatch is called instead of Apply, after the other operations of the group, with neighbours of the receiver's
	// type; the receiver is the first of them. It must keep to what Apply must. If it fails each is tried alone, by Apply.
	ApplyBatch(tx *Tx, ops []Op) error
}

// queue is the hand-over from callers to the writer.
type queue struct {
	mu    sync.Mutex // guards the following
	ops   []Op       // wait in order; the writer takes them all at once
	bytes int        // that these hold, and those that are taken and not yet committed
	drops drops
	// accepted and settled number operations: all up to settled are committed (or rejected).
	accepted, settled uint64
	waiters           []waiter
	room              chan struct{} // closed when there is room again; nil while nobody waits
	failing           error         // why the last commit failed
	closed            bool

	first  chan struct{} // an operation came into the empty queue
	urgent chan struct{} // commit now: a full group, a Flush
}

type waiter struct {
	upTo uint64
	done chan error // capacity 1: an abandoned waiter holds nobody up
}

func (q *queue) init() {
	q.first = make(chan struct{}, 1)
	q.urgent = make(chan struct{}, 1)
}

// signal leaves a mark that the writer will find.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Submit queues op. It returns at once, or within 100 ms when the queue is full: then ErrDropped for a droppable
// operation, nil for others. The caller must not touch what op points to afterwards.
func (s *Store) Submit(op Op) error {
	first, err := s.submit(op, sizeOf(op))
	if first {
		s.dropsBegin()
	}
	return err
}

// submit reports besides whether it drops the first operation after a time without.
func (s *Store) submit(op Op, size int) (firstDrop bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full() {
		s.awaitRoom()
	}
	switch {
	case s.closed:
		return false, ErrClosed
	case op.Droppable() && s.full():
		s.dropped.Add(1)
		return s.drops.add(), ErrDropped
	case s.bytes >= s.opts.QueueBytes+s.opts.QueueBytes/2: // the caller of what is refused still holds it
		return false, ErrFull
	}
	s.ops = append(s.ops, op)
	s.bytes += size
	s.accepted++
	switch len(s.ops) {
	case 1:
		signal(s.first)
	case groupSize:
		signal(s.urgent)
	}
	return false, nil
}

// full is called with mu held.
func (s *Store) full() bool { return s.bytes >= s.opts.QueueBytes }

// awaitRoom is called with mu held, and gives it up while it waits. A disk known to be failing is not waited for.
func (s *Store) awaitRoom() {
	timeout := time.NewTimer(maxDelay)
	defer timeout.Stop()
	for s.full() && s.failing == nil && !s.closed {
		if s.room == nil {
			s.room = make(chan struct{})
		}
		room := s.room
		signal(s.urgent)
		s.mu.Unlock()
		select {
		case <-room:
			s.mu.Lock()
		case <-timeout.C:
			s.mu.Lock()
			return
		}
	}
}

// Flush returns when everything submitted before is committed, with the cause if a commit fails meanwhile: what was
// submitted is then still queued.
func (s *Store) Flush(ctx context.Context) error {
	s.mu.Lock()
	if s.settled == s.accepted {
		s.mu.Unlock()
		return nil
	}
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	w := waiter{upTo: s.accepted, done: make(chan error, 1)}
	s.waiters = append(s.waiters, w)
	signal(s.urgent)
	s.mu.Unlock()
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Health is why the last commit failed, nil while they succeed.
func (s *Store) Health() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failing
}

// take hands all that waits to the writer and leaves it spare to append to.
func (q *queue) take(spare []Op) []Op {
	q.mu.Lock()
	defer q.mu.Unlock()
	ops := q.ops
	q.ops = spare[:0]
	return ops
}

// settle records a group of those taken as done. It says whether commits had been failing.
func (q *queue) settle(group []Op) (recovered bool) {
	size := 0
	for _, op := range group {
		size += sizeOf(op)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= size
	q.settled += uint64(len(group))
	recovered, q.failing = q.failing != nil, nil
	kept := q.waiters[:0]
	for _, w := range q.waiters {
		if w.upTo <= q.settled {
			w.done <- nil
		} else {
			kept = append(kept, w)
		}
	}
	clear(q.waiters[len(kept):])
	q.waiters = kept
	q.makeRoom()
	return recovered
}

// fail tells everybody who waits that a commit failed. It says whether that is news.
func (q *queue) fail(err error) (news bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	news, q.failing = q.failing == nil, err
	for _, w := range q.waiters {
		w.done <- err
	}
	q.waiters = nil
	q.makeRoom()
	return news
}

func (q *queue) makeRoom() {
	if q.room != nil {
		close(q.room)
		q.room = nil
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.makeRoom()
}

func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.ops)
}
