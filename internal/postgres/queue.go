package postgres

import (
	"sync"
	"time"
)

// entry is a row of a table.
type entry struct {
	table int
	row   []byte
}

// batch is rows that are written in one transaction. Its number is that of its last row.
type batch struct {
	source string
	n      uint64
	rows   []entry
	seq    int64 // in the spool; 0: not there
}

// queue has the rows that the writer has not taken.
type queue struct {
	mu      sync.Mutex // guards the following
	rows    []entry
	since   time.Time // when the first of them was added to the empty queue
	bytes   int       // of these and of those that are taken and neither written nor spooled
	taken   int       // bytes of these
	dropped uint64
	// appended is the number of the last row, written of the last one that is in the database.
	appended, written uint64
	dropping          bool
	waiters           []waiter

	first  chan struct{} // a row was added to the empty queue
	urgent chan struct{} // write now: a full batch, or a Flush
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

// add queues a row if there is a place for it, and reports whether it is the first one dropped.
func (q *queue) add(e entry, kept, known bool) (firstDrop bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	most := maxWaiting
	if kept {
		most = maxKept
	}
	if !known || q.bytes+len(e.row) > most {
		q.dropped++
		firstDrop, q.dropping = !q.dropping, true
		return firstDrop
	}
	q.rows = append(q.rows, e)
	q.bytes += len(e.row)
	q.appended++
	switch len(q.rows) {
	case 1:
		q.since = time.Now()
		signal(q.first)
	case batchRows:
		signal(q.urgent)
	}
	return false
}

// patience is how long the rows may wait for others: not at all if they fill a batch or somebody waits
// for them, idle if there are none.
func (q *queue) patience() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case len(q.rows) == 0:
		return idle
	case len(q.rows) >= batchRows || len(q.waiters) > 0:
		return 0
	}
	return max(batchInterval-time.Since(q.since), 0)
}

// take returns the next batch, nil if no row waits.
func (q *queue) take(source string) *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.rows), batchRows)
	if n == 0 {
		return nil
	}
	b := &batch{source: source, n: q.appended - uint64(len(q.rows)-n), rows: q.rows[:n:n]}
	if q.rows = q.rows[n:]; len(q.rows) == 0 {
		q.rows = nil
	}
	q.taken = size(b.rows)
	return b
}

func size(rows []entry) (n int) {
	for _, e := range rows {
		n += len(e.row)
	}
	return n
}

// left counts the batch that was taken as written or spooled.
func (q *queue) left() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= q.taken
	q.taken = 0
	if q.bytes < maxWaiting/2 {
		q.dropping = false
	}
}

// settle counts the rows up to n as written.
func (q *queue) settle(n uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.written = max(q.written, n)
	kept := q.waiters[:0]
	for _, w := range q.waiters {
		if w.upTo <= q.written {
			w.done <- nil
		} else {
			kept = append(kept, w)
		}
	}
	clear(q.waiters[len(kept):])
	q.waiters = kept
}

// settleAll counts all rows as written: none waits in the spool.
func (q *queue) settleAll() {
	q.mu.Lock()
	n := q.appended - uint64(len(q.rows))
	q.mu.Unlock()
	q.settle(n)
}

// fail tells all that wait.
func (q *queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.waiters {
		w.done <- err
	}
	q.waiters = nil
}

// drop counts rows that were taken and will not be written.
func (q *queue) drop(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += uint64(n)
}

// wait returns what is told when all rows appended before are written, nil if they are.
func (q *queue) wait() <-chan error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.written >= q.appended {
		return nil
	}
	w := waiter{q.appended, make(chan error, 1)}
	q.waiters = append(q.waiters, w)
	signal(q.urgent)
	return w.done
}

// Status is what an operator should know of a Writer.
type Status struct {
	// Err is why rows cannot be written, nil if they can.
	Err error
	// Since is when that began, or when it last ended.
	Since time.Time
	// Waiting is how many rows of this process are not in the database, WaitingBytes the memory of
	// those that are not on disk.
	Waiting, WaitingBytes int
	// Spooled is how many batches wait on disk, SpooledBytes their size.
	Spooled      int
	SpooledBytes int64
	// Dropped counts rows that found no place to wait, Refused those that the database does not
	// take, since the process began.
	Dropped, Refused uint64
}

// Status returns the present status.
func (w *Writer) Status() Status {
	s := w.state.status()
	if w.spool != nil {
		s.Spooled, s.SpooledBytes = w.spool.size()
	}
	q := &w.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	s.Waiting, s.WaitingBytes, s.Dropped = int(q.appended-q.written), q.bytes, q.dropped
	return s
}

// state is how the last attempt went.
type state struct {
	mu      sync.Mutex // guards the following
	err     error
	since   time.Time
	refused uint64
}

// set notes an attempt, and reports whether it went otherwise than the one before.
func (s *state) set(err error) (lasted time.Duration, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if changed = (err == nil) != (s.err == nil); changed {
		lasted, s.since = time.Since(s.since), time.Now()
	}
	s.err = err
	return lasted, changed
}

func (s *state) refuse(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused += uint64(n)
}

func (s *state) isAway() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil
}

func (s *state) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Status{Err: s.err, Since: s.since, Refused: s.refused}
}
