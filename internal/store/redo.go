package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/queue"
)

const (
	// redoFileSize is the size from which the next write goes to the other file: records of some
	// thousand calls, so that the files stay in the system's cache.
	redoFileSize = 1 << 20
	// redoBuffer is how many bytes of records wait at most for the next operation that must be
	// durable. It is also the largest buffer that is kept for reuse.
	redoBuffer = 256 << 10
)

// Logged is an Op that the redo log keeps until it is committed. It needs a Schema with Redo.
type Logged interface {
	Op
	// AppendRecord appends the text from which Schema.Redo makes the operation again. If it
	// is longer than 1 MiB, it is not logged: SubmitDurable then waits for the commit.
	AppendRecord([]byte) []byte
}

// redoLog keeps operations on disk until SQLite has committed them. A commit costs some fifty
// times as much as a record, so an operation that must survive a kill -9 waits for its record only.
//
// A record has the number of its operation in the queue, and each commit writes the number of its
// last operation into the table redo. After a crash exactly the records with greater numbers are
// applied, see writer.redo. A record that need not be durable is buffered, and written with the
// next one that must be.
//
// There are two files. When one is full, and all operations in the other are committed, the other
// one is emptied and used. So both are small unless commits fail; then the queue bounds them.
type redoLog struct {
	mu        sync.Mutex // guards the following
	pending   []byte     // records that are not written
	waiting   *redoWrite // ends the wait of their callers; nil if none waits
	newest    uint64     // number of the newest record
	committed uint64     // number of the last committed operation
	fault     redoFault

	wake, stop, done chan struct{}

	// The rest belongs to the goroutine that writes.
	check    func(names ...string) error // looks whether files are still in place
	failed   func(error)                 // called for each write that failed
	changed  func(error, time.Time)      // called when writes begin to fail, or succeed again
	reusable []byte
	files    [2]redoFile
	current  int // index of the file that is written
}

// redoFault is why the last write failed, and since when writes fail. It is zero if they succeed.
type redoFault struct {
	err   error
	since time.Time
}

// redoWrite is one write, of all records that were pending.
type redoWrite struct {
	done chan struct{} // closed when it has ended
	err  error         // valid then
}

func (w *redoWrite) end(err error) {
	if w != nil {
		w.err = err
		close(w.done)
	}
}

// start starts the goroutine that writes to the files.
func (l *redoLog) start() {
	l.wake, l.stop, l.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(l.done)
		for {
			select {
			case <-l.wake:
				l.write()
			case <-l.stop:
				l.write()
				return
			}
		}
	}()
}

// add appends the record of an operation. Calls must be in the order of the numbers. With durable
// it returns the write to wait for, nil if the record is too large.
func (l *redoLog) add(number uint64, op Logged, durable bool) *redoWrite {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.pending)
	l.pending = appendRecord(l.pending, number, op)
	if len(l.pending)-before > maxRecord {
		l.pending = append([]byte(nil), l.pending[:before]...) // without the memory of the large one
		return nil
	}
	l.newest = number
	if durable && l.waiting == nil {
		l.waiting = &redoWrite{done: make(chan struct{})}
	}
	if durable || len(l.pending) >= redoBuffer {
		queue.Signal(l.wake)
	}
	return l.waiting
}

// write writes what is pending. If that fails, or would be of no use because a file was removed,
// the records are dropped and their operations are not durable before their commit.
func (l *redoLog) write() {
	l.mu.Lock()
	records, waiting, newest, committed := l.pending, l.waiting, l.newest, l.committed
	l.pending, l.waiting = l.reusable[:0], nil
	failing := l.fault.err != nil
	l.mu.Unlock()
	if len(records) > 0 || failing {
		err := l.check(FileName, redoNames[l.current])
		switch {
		case err != nil:
		case len(records) == 0:
			err = l.files[l.current].probe()
		default:
			err = l.append(records, newest, committed)
		}
		l.ended(err)
		waiting.end(err)
	}
	l.reusable = records
	if cap(records) > redoBuffer {
		l.reusable = nil
	}
}

// ended records how a write ended.
func (l *redoLog) ended(err error) {
	l.mu.Lock()
	before := l.fault
	switch {
	case err == nil:
		l.fault = redoFault{}
	case before.err == nil:
		l.fault = redoFault{err, time.Now()}
	default:
		l.fault.err = err
	}
	l.mu.Unlock()
	if (before.err == nil) != (err == nil) {
		l.changed(err, before.since)
	}
	if err != nil {
		l.failed(err)
	}
}

// status returns why the log cannot be written, and since when.
func (l *redoLog) status() redoFault {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

// retry tries a log that cannot be written again, so that it is known when it can be.
func (l *redoLog) retry() {
	if l.status().err != nil {
		queue.Signal(l.wake)
	}
}

func (l *redoLog) append(records []byte, newest, committed uint64) error {
	f, other := &l.files[l.current], &l.files[1-l.current]
	if f.size >= redoFileSize && other.newest <= committed {
		if err := other.empty(); err != nil {
			return err
		}
		l.current, f = 1-l.current, other
	}
	return f.append(records, newest)
}

// behind reports whether a commit must say in the table redo which records it makes obsolete.
func (l *redoLog) behind() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.newest > l.committed
}

// commit says that all operations up to number are committed: they need no record any more.
func (l *redoLog) commit(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.committed = number
	if l.newest <= number {
		l.waiting.end(nil)
		l.pending, l.waiting = l.pending[:0], nil
	}
}

// close writes what is pending and closes the files.
func (l *redoLog) close() error {
	if l.stop != nil {
		close(l.stop)
		<-l.done
	}
	return errors.Join(l.files[0].close(), l.files[1].close())
}

// wait returns when the write has ended, with the error of ctx, or after the timeout.
func (w *redoWrite) wait(ctx context.Context, timeout time.Duration) (written bool, err error) {
	timer := time.NewTimer(timeout) // a context with a deadline would cost more than the write
	defer timer.Stop()
	select {
	case <-w.done:
		return w.err == nil, nil
	case <-ctx.Done():
		return false, ctx.Err()
	case <-timer.C:
		return false, context.DeadlineExceeded
	}
}
