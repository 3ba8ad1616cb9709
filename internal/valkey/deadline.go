package valkey

import (
	"context"
	"sync"
	"time"
)

// deadlineStep is how exact deadlines are: messages of the same step share a timer.
const deadlineStep = 10 * time.Millisecond

// deadlines makes contexts with a deadline. A message needs no timer of its own. The zero value is
// ready.
type deadlines struct {
	start time.Time
	once  sync.Once

	mu      sync.Mutex // guards pending
	pending map[int64]*deadline
}

// after returns a context that ends in d, or up to a step later.
func (d *deadlines) after(wait time.Duration) context.Context {
	d.once.Do(func() { d.start, d.pending = time.Now(), map[int64]*deadline{} })
	step := int64((time.Since(d.start)+max(wait, 0))/deadlineStep) + 1
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := d.pending[step]; found != nil {
		return found
	}
	made := &deadline{at: d.start.Add(time.Duration(step) * deadlineStep), done: make(chan struct{})}
	d.pending[step] = made
	time.AfterFunc(time.Until(made.at), func() {
		d.mu.Lock()
		delete(d.pending, step)
		d.mu.Unlock()
		close(made.done)
	})
	return made
}

// deadline is a context that several messages share.
type deadline struct {
	at   time.Time
	done chan struct{}
}

func (d *deadline) Deadline() (time.Time, bool) { return d.at, true }
func (d *deadline) Done() <-chan struct{}       { return d.done }
func (d *deadline) Value(any) any               { return nil }

func (d *deadline) Err() error {
	select {
	case <-d.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
