package limits

import "time"

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

// Window counts what was used of one unit in the last stretch of time. Times are nanoseconds since
// 1970; slots are numbered since then.
type Window struct {
	length time.Duration
	slot   int64 // nanoseconds of a slot: whole microseconds, as Valkey's clock has

	head   int64              // number of the newest slot; never goes back
	total  int64              // sum of counts
	counts [storedSlots]int64 // of slots head-60 to head, slot n at n % storedSlots
}

// NewWindow returns an empty window.
func NewWindow(length time.Duration) Window {
	return Window{length: length, slot: (length.Microseconds() + slots - 1) / slots * int64(time.Microsecond)}
}

// Load replaces what is counted with what an engine has: the newest slot, the sum, and of the slots
// that are known the place and the count, one after the other.
func (w *Window) Load(head, total int64, counts []int64) {
	w.head, w.total, w.counts = head, total, [storedSlots]int64{}
	for ; len(counts) >= 2; counts = counts[2:] {
		w.counts[uint64(counts[0])%storedSlots] = counts[1]
	}
}

// Length returns how long the window is.
func (w *Window) Length() time.Duration { return w.length }

// Head returns the number of the newest slot.
func (w *Window) Head() int64 { return w.head }

// Slots returns the numbers of the slots that count: from first to last.
func (w *Window) Slots() (first, last int64) { return max(w.head-slots, 0), w.head }

// Place returns the place of a slot among those of the window, at most 60.
func (w *Window) Place(slot int64) int { return int(slot % storedSlots) }

// At returns what a slot counts, and when it leaves the window.
func (w *Window) At(slot int64) (count, leaves int64) {
	return w.counts[slot%storedSlots], (slot + storedSlots) * w.slot
}

// Advance moves the window to now and forgets the slots that have left it.
func (w *Window) Advance(now int64) {
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

// Add counts n (which may be negative) in a slot that has not left the window.
func (w *Window) Add(slot, n int64) {
	at := slot % storedSlots
	n = max(n, -w.counts[at])
	n = Plus(w.total, max(n, 0)) - w.total + min(n, 0)
	w.counts[at] += n
	w.total += n
}

// Correct changes what was counted in a slot: a decrease applies to that slot, an increase to the
// newest one. It returns the slot that has changed, unless that has left the window.
func (w *Window) Correct(slot, delta int64) (changed int64, ok bool) {
	switch {
	case delta > 0:
		w.Add(w.head, delta)
		return w.head, true
	case delta < 0 && slot >= w.head-slots:
		w.Add(slot, delta)
		return slot, true
	}
	return 0, false
}

// Used returns what counts now, and how long it takes until nothing counts any more.
func (w *Window) Used(now int64) (total int64, reset time.Duration) {
	w.Advance(now)
	return w.total, w.reset(now)
}

// wait returns how long after now n fits, if nothing else is counted. It returns 0 if n fits now,
// and never if n is more than the limit.
func (w *Window) wait(now, n, limit int64) (_ time.Duration, never bool) {
	excess := Plus(w.total, n) - limit
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
func (w *Window) until(now, slot int64) time.Duration {
	return time.Duration((slot+storedSlots)*w.slot - now)
}

// reset returns how long after now nothing counts any more.
func (w *Window) reset(now int64) time.Duration {
	for i := w.head; i >= max(w.head-slots, 0) && w.total > 0; i-- {
		if w.counts[i%storedSlots] > 0 {
			return w.until(now, i)
		}
	}
	return 0
}

// Counted is a rate of a call and the window that it counts in.
type Counted struct {
	Subject string
	Rate    Rate
	Window  *Window
}

// Count counts n in all windows of a call, or in none if it does not fit into one of them. The
// reading is that of the rate with the least remaining.
func Count(n, now int64, windows []Counted) (Reading, *RateRefusal) {
	var tightest int
	var refusal *RateRefusal
	least := int64(-1)
	for i, c := range windows {
		c.Window.Advance(now)
		left := max(c.Rate.Limit-c.Window.total, 0)
		if least < 0 || left < least {
			tightest, least = i, left
		}
		wait, never := c.Window.wait(now, n, c.Rate.Limit)
		if wait == 0 && !never {
			continue
		}
		if refusal == nil || never && !refusal.Never || never == refusal.Never && wait > refusal.RetryAfter {
			refusal = &RateRefusal{Reading: Reading{c.Subject, c.Rate, left, c.Window.reset(now)}, RetryAfter: wait, Never: never}
		}
	}
	if least < 0 {
		return Reading{}, nil
	}
	if refusal == nil && n > 0 {
		for _, c := range windows {
			c.Window.Add(c.Window.head, n)
		}
		least = max(least-n, 0)
	}
	c := &windows[tightest]
	return Reading{c.Subject, c.Rate, least, c.Window.reset(now)}, refusal
}
