package recording

import (
	"errors"
	"time"
)

var (
	errSlow  = errors.New("the disk is too slow: 1 MiB has waited for it for a second")
	errStuck = errors.New("the disk does not answer")
)

// add is called with mu held.
func (w *Writer) add(kind uint8, data []byte) {
	if w.closed {
		return
	}
	if !w.fits(data) {
		w.fail(errSlow)
		return
	}
	now, before := w.options.Now(), len(w.pending)
	w.pending = appendFrame(w.pending, kind, now.Sub(w.last), data)
	if delta := now.Sub(w.last); delta > 0 {
		w.last = w.last.Add(delta.Truncate(time.Microsecond)) // so that the rest is not lost
	}
	switch {
	case w.flushing: // it looks again
	case before < flushAt && len(w.pending) >= flushAt:
		w.timer.Reset(0)
	case before == 0:
		w.timer.Reset(flushEvery)
	}
}

// fail ends the recording; mu is held.
func (w *Writer) fail(err error) {
	if w.err != nil {
		return
	}
	w.err, w.closed, w.pending = err, true, nil
	w.wake()
	if w.options.Failed != nil {
		go w.options.Failed(err)
	}
	if !w.flushing {
		w.timer.Reset(0) // closes the file
	}
}

func (w *Writer) fits(data []byte) bool { return len(w.pending)+maxFrameHead+len(data) <= maxQueue }

// wait waits for room in the queue. It is called with mu held, and gives it up meanwhile.
func (w *Writer) wait() {
	begun, limit := time.Now(), time.NewTimer(w.patience)
	w.mu.Unlock()
	select {
	case <-w.room:
	case <-limit.C:
	}
	limit.Stop()
	w.mu.Lock()
	w.patience -= time.Since(begun)
}

// wake has a Server look whether there is room.
func (w *Writer) wake() {
	select {
	case w.room <- struct{}{}:
	default:
	}
}
