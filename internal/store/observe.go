package store

import "time"

// timed commits a group and reports how long that took.
func (w *writer) timed(group []Op) error {
	if w.opts.Committed != nil {
		defer func(began time.Time) { w.opts.Committed(time.Since(began)) }(time.Now())
	}
	return w.commit(group, w.lastOf(group))
}

// Pending returns how many operations are queued or being written.
func (q *queue) Pending() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.accepted - q.settled
}
