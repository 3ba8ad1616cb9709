// Package queue has the group commit of a database: any number of callers add items, and one
// goroutine takes those that wait and commits them together.
//
//	q := queue.New[Row]()
//	err := q.Add(row, len(row), maxBytes, nil) // by callers
//	err = q.Flush(ctx)                         // what was added before is committed
//
//	case <-q.First: due.Reset(queue.Interval)  // by the one goroutine
//	case <-q.Urgent:
//	rows, last := q.Take(queue.Group, nil)
//	…                                          // commit
//	q.Release(size)
//	q.Settle(last)                             // or q.Fail(err), and again later
package queue

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// Interval is how long the first item of a group usually waits for others. So it bounds what a
	// kill -9 loses.
	Interval = 50 * time.Millisecond
	// Group is how many items are committed without waiting, and the most that are committed at once:
	// it bounds how long a Flush takes because of others, and how much a failed commit repeats.
	Group = 500
	// Idle is longer than the process runs.
	Idle = time.Duration(1<<63 - 1)
)

var (
	// ErrFull is returned by Add for an item for which there is no room.
	ErrFull = errors.New("the queue is full")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the queue is closed")
)

// Queue passes items from callers to the goroutine that commits them. Items are numbered from 1 in
// the order in which they were added.
type Queue[T any] struct {
	// First receives a value when an item was added to the empty queue.
	First chan struct{}
	// Urgent receives a value when there should be a commit now: the items are a full group, or
	// somebody waits.
	Urgent chan struct{}

	mu       sync.Mutex // guards the following
	items    []T        // not taken
	bytes    int        // of the items that were added and not released
	accepted uint64     // number of the last item
	settled  uint64     // number of the last one that is committed
	since    time.Time  // when the first of items was added
	taken    time.Time  // when the first of those that were taken last was added
	waiters  []waiter
	room     chan struct{} // closed when memory was released; nil while nobody waits for it
	drops    drops
	closed   bool
}

type waiter struct {
	upTo uint64
	done chan error // capacity 1: an abandoned waiter blocks nobody
}

// New returns an empty queue.
func New[T any]() *Queue[T] {
	return &Queue[T]{First: make(chan struct{}, 1), Urgent: make(chan struct{}, 1)}
}

// Signal sends to a channel of capacity 1 unless a value waits there already.
func Signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Add adds an item unless all that wait have so many bytes already. If added is not nil, it is called
// with the number of the item, in the order of the numbers. It must return at once.
func (q *Queue[T]) Add(item T, size, most int, added func(number uint64)) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return ErrClosed
	case q.bytes >= most:
		return ErrFull
	}
	q.items = append(q.items, item)
	q.bytes += size
	q.accepted++
	if added != nil {
		added(q.accepted)
	}
	switch len(q.items) {
	case 1:
		q.since = time.Now()
		Signal(q.First)
	case Group:
		Signal(q.Urgent)
	}
	return nil
}

// AwaitRoom waits at most so long while all that wait have so many bytes, and only while commits work.
func (q *Queue[T]) AwaitRoom(most int, wait time.Duration, work func() bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	for q.bytes >= most && !q.closed && work() {
		if q.room == nil {
			q.room = make(chan struct{})
		}
		room := q.room
		Signal(q.Urgent)
		q.mu.Unlock()
		select {
		case <-room:
			q.mu.Lock()
		case <-timeout.C:
			q.mu.Lock()
			return
		}
	}
}

// Flush returns nil when all items that were added before are committed, or the error of a Fail
// meanwhile, or of the context.
func (q *Queue[T]) Flush(ctx context.Context) error {
	done, err := q.wait()
	if done == nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wait returns what receives when all items are committed, nil if there is nothing to wait for.
func (q *Queue[T]) wait() (done <-chan error, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.settled >= q.accepted:
		return nil, nil
	case q.closed:
		return nil, ErrClosed
	}
	w := waiter{q.accepted, make(chan error, 1)}
	q.waiters = append(q.waiters, w)
	Signal(q.Urgent)
	return w.done, nil
}

// Take moves at most so many items to the goroutine that commits them, and returns the number of the
// last one. If it takes all, the queue uses the memory of reusable from then on.
func (q *Queue[T]) Take(most int, reusable []T) (items []T, last uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken = q.since
	if len(q.items) <= most {
		items, q.items = q.items, reusable[:0]
		return items, q.accepted
	}
	items, q.items = q.items[:most:most], q.items[most:]
	if len(q.waiters) > 0 {
		Signal(q.Urgent)
	}
	return items, q.accepted - uint64(len(q.items))
}

// Patience is how long the items may still wait for others: not at all if they are a group or
// somebody waits, Idle if there are none.
func (q *Queue[T]) Patience() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case len(q.items) == 0:
		return Idle
	case len(q.items) >= Group || len(q.waiters) > 0:
		return 0
	}
	return max(Interval-time.Since(q.since), 0)
}

// Release gives back the memory of items that were taken.
func (q *Queue[T]) Release(bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= bytes
	q.freed()
}

// Settle records that all items up to a number are committed.
func (q *Queue[T]) Settle(upTo uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.settled = max(q.settled, upTo)
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
}

// Fail reports a failed commit to all who wait. The items stay.
func (q *Queue[T]) Fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.waiters {
		w.done <- err
	}
	q.waiters = nil
	q.freed()
}

// Close makes Add fail. What waits can still be committed.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.freed()
}

// freed wakes all that wait for room. It must be called with mu held.
func (q *Queue[T]) freed() {
	if q.room != nil {
		close(q.room)
		q.room = nil
	}
}

// drops is a period in which items are dropped.
type drops struct {
	all   uint64    // before the period too
	since time.Time // zero: none are dropped
	count uint64
	seen  uint64 // count at the last check
}

// Drop counts items for which there was no room, and reports whether a period of drops begins.
func (q *Queue[T]) Drop(n int) (begins bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drops.all += uint64(n)
	q.drops.count += uint64(n)
	if begins = q.drops.since.IsZero(); begins {
		q.drops.since = time.Now()
	}
	return begins
}

// DropsEnded returns what was dropped once two calls saw no new drop, or at once if now is set, and
// starts again at zero. It reports false if nothing was dropped or drops go on.
func (q *Queue[T]) DropsEnded(now bool) (count uint64, lasted time.Duration, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	d := q.drops
	if d.since.IsZero() || d.count != d.seen && !now {
		q.drops.seen = d.count
		return 0, 0, false
	}
	q.drops = drops{all: d.all}
	return d.count, time.Since(d.since), true
}

// Status is what waits.
type Status struct {
	Items   int       // that are not committed
	Bytes   int       // that were not released
	Oldest  time.Time // when the first of the items was added; zero without any
	Dropped uint64    // since the queue was made
}

// Status returns what waits now.
func (q *Queue[T]) Status() Status {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := Status{Items: int(q.accepted - q.settled), Bytes: q.bytes, Dropped: q.drops.all}
	switch {
	case s.Items > len(q.items):
		s.Oldest = q.taken
	case s.Items > 0:
		s.Oldest = q.since
	}
	return s
}
