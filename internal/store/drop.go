package store

import (
	"time"

	"go.uber.org/zap"
)

// drops is a period in which operations are dropped. The log gets one line when it begins and one
// when it ends.
type drops struct {
	since time.Time // zero: none are dropped
	count uint64
	seen  uint64 // count at the writer's last check
}

// add counts a dropped operation and reports whether it is the first. The queue must be locked.
func (d *drops) add() (first bool) {
	d.count++
	if first = d.since.IsZero(); first {
		d.since = time.Now()
	}
	return first
}

// end returns what was dropped once two checks saw no new drop, and starts again at zero; now does not
// wait for them. The queue must be locked.
func (d *drops) end(now bool) (count uint64, lasted time.Duration, ended bool) {
	if d.since.IsZero() || d.count != d.seen && !now {
		d.seen = d.count
		return 0, 0, false
	}
	count, lasted = d.count, time.Since(d.since)
	*d = drops{}
	return count, lasted, true
}

// Dropped returns how many droppable operations were dropped because the queue was full.
func (s *Store) Dropped() uint64 { return s.dropped.Load() }

func (s *Store) dropsBegin() {
	s.opts.Logger.Error("records are dropped: they arrive faster than the database can write them",
		zap.String("file", s.path), zap.Int("waiting_bytes", s.opts.QueueBytes))
}

// lookAtDrops logs the end of a period of drops: after a second without one, or now.
func (w *writer) lookAtDrops(now bool) {
	w.mu.Lock()
	count, lasted, ended := w.drops.end(now)
	w.mu.Unlock()
	if ended {
		w.opts.Logger.Warn("records are no longer dropped", zap.String("file", w.path), zap.Uint64("dropped", count), zap.Duration("in", lasted))
	}
}
