package store

import (
	"errors"
	"time"

	"go.uber.org/zap"
)

// committed settles a group, and logs the end of a time in which commits failed.
func (w *writer) committed(group []Op) {
	since := w.commits.succeed()
	w.settled += uint64(len(group))
	if w.log != nil {
		w.log.commit(w.settled)
	}
	size := 0
	for _, op := range group {
		size += sizeOf(op)
	}
	w.queue.Release(size)
	w.queue.Settle(w.settled)
	if !since.IsZero() {
		w.opts.Logger.Info("the database can be written again", zap.String("file", w.path),
			zap.Duration("after", time.Since(since)), zap.Int("waiting", w.Status().Waiting))
	}
}

// failed closes the connection: the error may have left it in any state. If the file was removed,
// the connection stays open, because closing it could destroy the file.
func (w *writer) failed(err error) {
	if !w.replaced && !locked(err) {
		w.tx.disconnect()
		w.files.forget(walFileName, shmFileName) // SQLite removes them with the last connection
	}
	err = explain(err)
	news := w.commits.fail(err)
	w.queue.Fail(err)
	if news {
		w.opts.Logger.Error("the database cannot be written; calls go on, and their records wait in memory",
			zap.String("file", w.path), zap.Int("waiting", w.Status().Waiting), zap.Error(err))
	}
	w.attemptFailed(err)
}

func (w *writer) attemptFailed(err error) {
	if w.opts.Failed != nil {
		w.opts.Failed(err)
	}
}

// lookAtFiles notices a lost or restored file while nothing is written.
func (w *writer) lookAtFiles() {
	switch err := w.files.check(); {
	case err != nil:
		w.replaced = true
		w.failed(err)
	case w.replaced && len(w.batch) == 0: // else the next attempt reports it
		w.replaced = false
		w.committed(nil)
	}
}

// redoChanged logs that the redo log cannot be written, or that it can again.
func (w *writer) redoChanged(err error, since time.Time) {
	switch {
	case err == nil:
		w.opts.Logger.Info("the redo log can be written again", zap.Duration("after", time.Since(since)))
	case !errors.Is(err, errReplaced): // lookAtFiles reports that
		w.opts.Logger.Error("the redo log cannot be written; each call under a hard budget waits for a commit of its own", zap.Error(err))
	}
}

// lookAtDrops logs the end of a period of drops: after a second without one, or now.
func (w *writer) lookAtDrops(now bool) {
	if count, lasted, ended := w.queue.DropsEnded(now); ended {
		w.opts.Logger.Warn("records are no longer dropped", zap.String("file", w.path), zap.Uint64("dropped", count), zap.Duration("in", lasted))
	}
}
