package store

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/queue"
)

const (
	// retryInterval limits the attempts on a failing disk. A Flush tries at once.
	retryInterval = time.Second
	// maxReused is the largest queue buffer kept for reuse after a burst.
	maxReused = 4096
)

// writer is the state of the one goroutine that writes.
type writer struct {
	*Store
	batch, reusable []Op // batch was taken from the queue, in order, and is not yet committed
	batches, others []Op // the operations of a group that are a Batch; both are kept for reuse
	pruning         []PruneFunc
	settled         uint64 // number of the last operation that is committed or rejected
	replaced        bool   // writing fails because of the store's files
}

func (s *Store) write() {
	defer close(s.done)
	w := &writer{Store: s}
	due := time.NewTimer(0)
	due.Stop()
	defer due.Stop()
	prune := time.NewTicker(s.opts.PruneInterval)
	defer prune.Stop()
	look := time.NewTicker(checkInterval)
	defer look.Stop()
	ready := make(chan struct{})
	close(ready)
	for {
		var more <-chan struct{}
		if len(w.pruning) > 0 {
			more = ready
		}
		select {
		case <-s.queue.First:
			if len(w.batch) == 0 {
				due.Reset(s.opts.CommitInterval)
			}
		case <-s.queue.Urgent:
			due.Reset(w.commitAll())
		case <-due.C:
			due.Reset(w.commitAll())
		case <-prune.C:
			w.pruning = append(w.pruning[:0], s.opts.Prune...)
		case <-look.C:
			w.commits.between(w.lookAtFiles)
			w.lookAtDrops(false)
			if w.log != nil {
				w.log.retry()
			}
		case <-more:
			w.commits.between(w.pruneOnce)
		case <-s.stop:
			w.finish()
			return
		}
	}
}

// commitAll commits what waited when it began, and returns when it must be called again.
func (w *writer) commitAll() time.Duration {
	if len(w.batch) == 0 {
		w.batch, _ = w.queue.Take(math.MaxInt, w.reusable)
	}
	whole := w.batch
	for len(w.batch) > 0 {
		group := w.batch[:min(queue.Group, len(w.batch))]
		began := w.commits.begin()
		err := w.commit(group, w.lastOf(group))
		if w.opts.Committed != nil {
			w.opts.Committed(time.Since(began))
		}
		if err != nil {
			w.failed(err)
			return retryInterval
		}
		w.batch = w.batch[len(group):]
		w.committed(group)
	}
	release(whole)
	w.reusable = whole
	if cap(whole) > maxReused {
		w.reusable = nil
	}
	if w.queue.Status().Items > 0 {
		return w.opts.CommitInterval
	}
	return queue.Idle
}

// commit writes a group in one transaction. If an operation is rejected, the group is written
// again, each operation after a savepoint, so that only the rejected one is left out. Last is the
// number of the last operation, for the redo log; 0: nothing in the log depends on it.
func (w *writer) commit(group []Op, last uint64) error {
	err := w.files.check()
	if w.replaced = err != nil; err != nil {
		return err
	}
	if w.tx.conn == nil {
		if err := w.reconnect(); err != nil {
			return err
		}
	}
	err = w.transact(group, last, w.applyTogether)
	if err != nil && !storageFault(err) {
		err = w.transact(group, last, w.applyEach)
	}
	return err
}

// lastOf returns the number of the last operation of a group if records wait for its commit.
func (w *writer) lastOf(group []Op) uint64 {
	if w.log == nil || !w.log.behind() {
		return 0
	}
	return w.settled + uint64(len(group))
}

// reconnect opens a connection. SQLite may then create its -wal and -shm again.
func (w *writer) reconnect() error {
	if err := w.tx.connect(w.writeDB); err != nil {
		return err
	}
	return w.files.remember(walFileName, shmFileName)
}

func (w *writer) transact(group []Op, last uint64, apply func([]Op) error) error {
	if err := w.tx.begin(); err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer w.tx.rollback()
	if err := apply(group); err != nil {
		return err
	}
	if last > 0 {
		if _, err := w.tx.Exec(updateRedo, last); err != nil {
			return err
		}
	}
	if err := w.tx.commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

func (w *writer) applyTogether(group []Op) error {
	defer func() {
		clear(w.batches)
		clear(w.others[:cap(w.others)])
		w.batches = w.batches[:0]
	}()
	for _, op := range group {
		if _, ok := op.(Batch); ok {
			w.batches = append(w.batches, op)
		} else if err := op.Apply(&w.tx); err != nil {
			return err
		}
	}
	for rest := w.batches; len(rest) > 0; {
		n := w.sameType(rest)
		if err := rest[0].(Batch).ApplyBatch(&w.tx, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// sameType moves the operations of the first one's type to the front, and returns how many they
// are. The order within each type stays.
func (w *writer) sameType(ops []Op) (n int) {
	first := reflect.TypeOf(ops[0])
	w.others = w.others[:0]
	for _, op := range ops {
		if reflect.TypeOf(op) == first {
			ops[n] = op
			n++
		} else {
			w.others = append(w.others, op)
		}
	}
	copy(ops[n:], w.others)
	return n
}

func (w *writer) applyEach(group []Op) error {
	for _, op := range group {
		if err := w.applyAlone(op); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) applyAlone(op Op) error {
	if _, err := w.tx.Exec("SAVEPOINT op"); err != nil {
		return err
	}
	if err := op.Apply(&w.tx); err != nil {
		if storageFault(err) {
			return err
		}
		w.opts.Logger.Error("operation rejected by the database", zap.String("op", fmt.Sprintf("%T", op)), zap.Error(err))
		if _, err := w.tx.Exec("ROLLBACK TO op"); err != nil {
			return err
		}
	}
	_, err := w.tx.Exec("RELEASE op")
	return err
}

// pruneOnce runs one batch of the first pruner that has more to do.
func (w *writer) pruneOnce() {
	more, err := w.pruneBatch(w.pruning[0])
	if err != nil {
		w.opts.Logger.Warn("pruning the database", zap.String("file", w.path), zap.Error(err))
	}
	if err != nil || !more {
		w.pruning = w.pruning[1:]
	}
}

func (w *writer) pruneBatch(prune PruneFunc) (bool, error) {
	if w.tx.conn == nil {
		return false, nil // commits fail: the next round is early enough
	}
	if err := w.tx.begin(); err != nil {
		return false, err
	}
	defer w.tx.rollback()
	more, err := prune(&w.tx)
	if err != nil {
		return false, err
	}
	return more, w.tx.commit()
}

// finish commits the rest and counts what a failing disk did not take.
func (w *writer) finish() {
	defer w.lookAtDrops(true)
	for {
		if w.commitAll() == retryInterval {
			break
		}
		if w.queue.Status().Items == 0 {
			return
		}
	}
	status := w.Status()
	w.lost = fmt.Errorf("%d operations lost: %w", status.Waiting, status.Err)
	w.commits.fail(ErrClosed)
	w.queue.Fail(ErrClosed)
}
