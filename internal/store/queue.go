package store

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/queue"
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
	most := s.opts.QueueBytes
	write, err := s.add(op, most, durable)
	if errors.Is(err, queue.ErrFull) {
		s.queue.AwaitRoom(most, maxDelay, s.commits.work)
		if !op.Droppable() {
			most += most / 2
		}
		write, err = s.add(op, most, durable)
	}
	switch {
	case errors.Is(err, queue.ErrClosed):
		return nil, ErrClosed
	case errors.Is(err, queue.ErrFull) && op.Droppable():
		if s.queue.Drop(1) {
			s.opts.Logger.Error("records are dropped: they arrive faster than the database can write them",
				zap.String("file", s.path), zap.Int("waiting_bytes", s.opts.QueueBytes))
		}
		return nil, ErrDropped
	case err != nil: // the caller keeps what is refused
		return nil, ErrFull
	}
	return write, nil
}

// add adds op to the queue, and its record to the redo log.
func (s *Store) add(op Op, most int, durable bool) (write *redoWrite, err error) {
	err = s.queue.Add(op, sizeOf(op), most, func(number uint64) {
		if logged, ok := op.(Logged); ok && s.log != nil {
			write = s.log.add(number, logged, durable)
		}
	})
	return write, err
}

// Flush returns when everything submitted before is committed. It returns the cause if a commit
// fails meanwhile; the operations are then still queued.
func (s *Store) Flush(ctx context.Context) error {
	err := s.queue.Flush(ctx)
	if errors.Is(err, queue.ErrClosed) {
		return ErrClosed
	}
	return err
}
