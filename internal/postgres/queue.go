package postgres

import (
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/queue"
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

func size(rows []entry) (n int) {
	for _, e := range rows {
		n += len(e.row)
	}
	return n
}

// take takes the next batch from the queue, none if no row waits.
func (w *Writer) take() {
	var rows []entry
	if rows, w.taken = w.queue.Take(queue.Group, nil); len(rows) > 0 {
		w.current = &batch{source: w.source, n: w.taken, rows: rows}
	}
}

// left counts the batch that was taken as written or spooled.
func (w *Writer) left() {
	w.queue.Release(size(w.current.rows))
	w.current = nil
	if w.queue.Status().Bytes < maxWaiting/2 {
		w.queue.DropsEnded(true)
	}
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
	waiting := w.queue.Status()
	s.Waiting, s.WaitingBytes, s.Dropped = waiting.Items, waiting.Bytes, waiting.Dropped
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
