package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
)

const (
	// probeTimeout bounds the question whether the database is back.
	probeTimeout = time.Second
)

// work writes what waits, or moves it to the spool, and returns when it must be called again.
func (w *Writer) work(ctx context.Context) time.Duration {
	away := w.state.isAway()
	if wait := time.Until(w.retryAt); away && wait > 0 {
		w.queue.Fail(errors.Join(w.state.status().Err, w.allToSpool()))
		return wait
	}
	err := w.probe(ctx, away)
	if err == nil {
		err = w.writeAll(ctx, false)
	} else {
		err = errors.Join(err, w.allToSpool())
	}
	lasted, changed := w.state.set(err)
	switch {
	case err == nil && changed:
		w.logger.Info("rows are written to PostgreSQL again", zap.Duration("after", lasted))
		w.forget(ctx)
	case changed:
		w.logger.Warn("PostgreSQL does not take rows: they wait on this machine", zap.Error(err))
	}
	if err != nil {
		w.queue.Fail(err)
		w.retryAt = time.Now().Add(retryInterval)
		return retryInterval
	}
	return w.queue.Patience()
}

// probe asks whether a database that was away is back: what waits in memory meanwhile is short.
func (w *Writer) probe(ctx context.Context, away bool) error {
	if !away {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return Explain(w.db.writing.Ping(ctx))
}

func (w *Writer) forget(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if _, err := w.db.writing.Exec(ctx, forgetSources, w.node, w.source); err != nil {
		w.logger.Debug("forgetting earlier processes of this node", zap.Error(Explain(err)))
	}
}

// writeAll writes the spool, then what has waited in memory for others. While there is a spool, what waits goes to
// its end.
func (w *Writer) writeAll(ctx context.Context, all bool) error {
	for {
		if w.spool.waits() {
			if err := w.allToSpool(); err != nil {
				return err
			}
			if err := w.fromSpool(ctx); err != nil {
				return err
			}
			continue
		}
		if w.current == nil && (all || w.queue.Patience() == 0) {
			w.take()
		}
		if w.current == nil {
			w.queue.Settle(w.taken) // none waits in the spool
			return nil
		}
		if err := w.write(ctx, w.current); err != nil {
			return errors.Join(err, w.allToSpool())
		}
		n := w.current.n
		w.left()
		w.queue.Settle(n)
	}
}

// fromSpool writes the first batch of the spool.
func (w *Writer) fromSpool(ctx context.Context) error {
	b, bytes, err := w.spool.next(ctx, w)
	if errors.Is(err, errDamaged) {
		w.logger.Error("rows are lost", zap.Error(err))
		return w.spool.remove(b, bytes)
	}
	if err != nil {
		return err
	}
	if b == nil { // another program has deleted it
		return w.spool.load(ctx)
	}
	if err := w.write(ctx, b); err != nil {
		return err
	}
	err = w.spool.remove(b, bytes)
	if b.source == w.source {
		w.queue.Settle(b.n)
	}
	return err
}

// toSpool moves the batch that was taken to the end of the spool.
func (w *Writer) toSpool() error {
	dropped, err := w.spool.put(w.current, w.tables)
	if err != nil {
		return err
	}
	if dropped > 0 {
		w.queue.Drop(dropped)
		w.logger.Error("rows are dropped: the spool for rows that wait for PostgreSQL is full", zap.Int("rows", dropped))
	}
	w.left()
	return nil
}

// allToSpool moves all that waits. Without a spool it stays in memory.
func (w *Writer) allToSpool() error {
	for w.spool != nil {
		if w.current == nil {
			w.take()
		}
		if w.current == nil {
			return nil
		}
		if err := w.toSpool(); err != nil {
			return err
		}
	}
	return nil
}

// finish writes what waits, or leaves it in the spool.
func (w *Writer) finish(ctx context.Context) error {
	err := w.probe(ctx, w.state.isAway())
	if err == nil {
		err = w.writeAll(ctx, true)
	}
	if err == nil {
		return nil
	}
	w.queue.Fail(err)
	if w.spool == nil {
		return fmt.Errorf("rows are lost: %w", err)
	}
	if err := errors.Join(w.allToSpool(), w.spool.store.Flush(ctx)); err != nil {
		return fmt.Errorf("rows are lost: %w", err)
	}
	return nil
}
