package sqlite

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// slots is the number of slots in a window.
//
//	|<----------------- window: slots 1 to 60 ------------------>|
//	[0][1][2] …                                          [59][60]
//	 ^ the oldest counts until slot 61 begins               ^ head: now
//
// A use counts until 61 slots after its slot began: at least the window and at most 1/60 longer. So
// no window of that length ever holds more than the limit, and a steady caller gets at least 60/61
// of it.
const (
	slots       = 60
	storedSlots = slots + 1
)

// window counts what was used of one unit in the last stretch of time. Times are nanoseconds since
// 1970.
type window struct {
	unit   limits.Unit
	length time.Duration
	slot   int64 // nanoseconds of a slot: whole microseconds, as gateways count that share a window

	head   int64              // number of the newest slot; never goes back
	total  int64              // sum of counts
	counts [storedSlots]int64 // of slots head-60 to head, slot n at n % storedSlots

	dirty  uint64 // slots that the store does not know, by their index in counts
	queued bool   // an operation that will write them waits in the store
}

func newWindow(unit limits.Unit, length time.Duration) *window {
	return &window{unit: unit, length: length, slot: (length.Microseconds() + slots - 1) / slots * int64(time.Microsecond)}
}

// advance moves the window to now and forgets the slots that have left it.
func (w *window) advance(now int64) {
	n := now / w.slot
	if n <= w.head {
		return
	}
	if n-w.head > slots {
		w.counts, w.total = [storedSlots]int64{}, 0
	} else {
		for i := w.head + 1; i <= n; i++ {
			w.total -= w.counts[i%storedSlots]
			w.counts[i%storedSlots] = 0
		}
	}
	w.head = n
}

// add counts n (which may be negative) in a slot that has not left the window.
func (w *window) add(slot, n int64) {
	at := slot % storedSlots
	n = max(n, -w.counts[at])
	n = limits.Plus(w.total, max(n, 0)) - w.total + min(n, 0)
	w.counts[at] += n
	w.total += n
	w.dirty |= 1 << at
}

// correct changes the count of a slot: a decrease applies to that slot, an increase to the current
// one.
func (w *window) correct(slot, delta int64) {
	switch {
	case delta > 0:
		w.add(w.head, delta)
	case delta < 0 && slot >= w.head-slots:
		w.add(slot, delta)
	}
}

// wait returns how long after now n fits, if nothing else is counted. It returns 0 if n fits now,
// and never if n is more than the limit.
func (w *window) wait(now, n, limit int64) (_ time.Duration, never bool) {
	excess := limits.Plus(w.total, n) - limit
	if excess <= 0 {
		return 0, false
	}
	if n > limit {
		return 0, true
	}
	for i := max(w.head-slots, 0); i <= w.head; i++ {
		if excess -= w.counts[i%storedSlots]; excess <= 0 {
			return w.until(now, i), false
		}
	}
	return w.until(now, w.head), false
}

// until returns how long after now the slot leaves the window.
func (w *window) until(now, slot int64) time.Duration {
	return time.Duration((slot+storedSlots)*w.slot - now)
}

// reset returns how long after now nothing counts any more.
func (w *window) reset(now int64) time.Duration {
	for i := w.head; i >= max(w.head-slots, 0) && w.total > 0; i-- {
		if w.counts[i%storedSlots] > 0 {
			return w.until(now, i)
		}
	}
	return 0
}
