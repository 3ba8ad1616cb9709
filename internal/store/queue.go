package store

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// maxDelay bounds how long a full queue may delay the end of a model call.
	maxDelay = 100 * time.Millisecond
	// unsized is the assumed size, in bytes, of an operation that is not Sized.
	unsized = 256
)

var (
	// ErrDropped is returned by Submit for a droppable operation if the queue stayed full. Dropped
	// counts it.
	ErrDropped = errors.New("the store's queue is full, operation dropped")
	// ErrFull is returned by Submit for an operation that may not be dropped if too many of those
	// wait for a failing disk. It was not taken: the caller keeps it.
	ErrFull = errors.New("the store's queue is full")
)

// Op is one change. The writer applies it together with others.
type Op interface {
	// Apply writes. It is called again from the start if its group failed to commit. So it must
	// change nothing but the transaction, or only what a second call repeats. An error that is not
	// a failing disk removes this operation from the group, with all its changes.
	Apply(*Tx) error
	// Droppable reports whether the operation may be dropped when the queue is full.
	Droppable() bool
}

// Sized is an Op that knows about how much memory it uses, in bytes. Size must always return the
// same value.
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
	// ApplyBatch is called instead of Apply, after the other operations of the group, with all of the
	// receiver's type, in order. The receiver is the first of them. The rules of Apply
	// hold. If it fails, Apply is called for each of them.
	ApplyBatch(tx *Tx, ops []Op) error
}

// queue passes operations from callers to the writer.
type queue struct {
	mu    sync.Mutex // guards the following
	ops   []Op       // waiting, in order; the writer takes them all at once
	bytes int        // size of these and of those taken and not yet committed
	drops drops
	// accepted and settled are numbers of operations: all up to settled are committed or rejected.
	accepted, settled uint64
	// began is when the first of ops was submitted, taken that of those that the writer has.
	began, taken time.Time
	waiters      []waiter
	free         chan struct{} // closed when the queue is no longer full; nil while nobody waits
	commits      commits
	closed       bool
	log          *redoLog // nil: no schema needs it

	first  chan struct{} // an operation was added to the empty queue
	urgent chan struct{} // commit now: a full group, or a Flush
}

type waiter struct {
	upTo uint64
	done chan error // capacity 1: an abandoned waiter blocks nobody
}

func (q *queue) init() {
	q.first = make(chan struct{}, 1)
	q.urgent = make(chan struct{}, 1)
}

// signal sends to c unless a signal waits there already.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Submit queues op. It returns at once, or within 100 ms if the queue is full: then with ErrDropped
// for a droppable operation, nil for others. The caller must not change what op points to
// afterwards.
func (s *Store) Submit(op Op) error {
	_, err := s.submit(op, false)
	return err
}

// SubmitDurable queues op like Submit, and returns when a kill -9 would not lose it: it is in the
// redo log, or committed. If its record cannot be written, it forces the commit like Flush. After
// the timeout it returns context.DeadlineExceeded. After that, the error of ctx or of the commit, op
// is queued nevertheless.
func (s *Store) SubmitDurable(ctx context.Context, op Logged, timeout time.Duration) error {
	write, err := s.submit(op, true)
	if err != nil {
		return err
	}
	began := time.Now()
	if write != nil { // nil: no schema uses the log
		if written, err := write.wait(ctx, timeout); written || err != nil {
			return err
		}
	}
	ctx, cancel := context.WithDeadline(ctx, began.Add(timeout))
	defer cancel()
	return s.Flush(ctx)
}

// submit returns the write of op's record that SubmitDurable waits for.
func (s *Store) submit(op Op, durable bool) (*redoWrite, error) {
	write, first, err := s.enqueue(op, sizeOf(op), durable)
	if first {
		s.dropsBegin()
	}
	return write, err
}

// enqueue also reports whether op is the first one dropped after a time without drops.
func (s *Store) enqueue(op Op, size int, durable bool) (write *redoWrite, firstDrop bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full() {
		s.waitForFree()
	}
	switch {
	case s.closed:
		return nil, false, ErrClosed
	case op.Droppable() && s.full():
		s.dropped.Add(1)
		return nil, s.drops.add(), ErrDropped
	case s.bytes >= s.opts.QueueBytes+s.opts.QueueBytes/2: // the caller keeps what is refused
		return nil, false, ErrFull
	}
	s.ops = append(s.ops, op)
	s.bytes += size
	s.accepted++
	if logged, ok := op.(Logged); ok && s.log != nil {
		write = s.log.add(s.accepted, logged, durable)
	}
	switch len(s.ops) {
	case 1:
		s.began = time.Now()
		signal(s.first)
	case groupSize:
		signal(s.urgent)
	}
	return write, false, nil
}

// full must be called with mu held.
func (s *Store) full() bool { return s.bytes >= s.opts.QueueBytes }

// waitForFree must be called with mu held, and unlocks it while it waits. It does not wait for
// commits that fail or take long.
func (s *Store) waitForFree() {
	timeout := time.NewTimer(maxDelay)
	defer timeout.Stop()
	for s.full() && s.commits.work(time.Now()) && !s.closed {
		if s.free == nil {
			s.free = make(chan struct{})
		}
		free := s.free
		signal(s.urgent)
		s.mu.Unlock()
		select {
		case <-free:
			s.mu.Lock()
		case <-timeout.C:
			s.mu.Lock()
			return
		}
	}
}

// Flush returns when everything submitted before is committed. It returns the cause if a commit
// fails meanwhile; the operations are then still queued.
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

// take moves all waiting operations to the writer. The queue appends to reusable from then on.
func (q *queue) take(reusable []Op) []Op {
	q.mu.Lock()
	defer q.mu.Unlock()
	ops := q.ops
	q.taken = q.began
	q.ops = reusable[:0]
	return ops
}

// settle records a group as done, and returns since when commits had been failing, zero if they had
// not.
func (q *queue) settle(group []Op) (failed time.Time) {
	size := 0
	for _, op := range group {
		size += sizeOf(op)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= size
	q.settled += uint64(len(group))
	if q.log != nil {
		q.log.commit(q.settled)
	}
	failed, q.commits = q.commits.since, commits{}
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
	q.signalFree()
	return failed
}

// fail reports a failed commit to all who wait, and reports whether commits had succeeded before.
func (q *queue) fail(err error) (news bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	news = q.commits.fail(err)
	for _, w := range q.waiters {
		w.done <- err
	}
	q.waiters = nil
	q.signalFree()
	return news
}

func (q *queue) signalFree() {
	if q.free != nil {
		close(q.free)
		q.free = nil
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signalFree()
}

func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.ops)
}
