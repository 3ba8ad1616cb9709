package cluster

import (
	"sync/atomic"
	"time"
)

// clock is the engine's, as the last beat has measured it. It goes on with the monotonic clock of this
// machine, so a wrong date here does not matter.
type clock struct {
	start  time.Time
	offset atomic.Int64 // nanoseconds that the engine is ahead of start and the time since then

	measured time.Duration // since start; only measure uses it
}

const (
	// goodTrip is a round trip that is short enough to measure by.
	goodTrip = 100 * time.Millisecond
	// measureAnyway is when a long one is better than an old measurement.
	measureAnyway = 30 * time.Second
)

func newClock() *clock { return &clock{start: time.Now()} }

// now returns the engine's time; before the first beat, this machine's.
func (c *clock) now() time.Time {
	return c.start.Add(time.Since(c.start) + time.Duration(c.offset.Load())).Round(0)
}

// measure takes the engine's time as that of the middle of a round trip.
func (c *clock) measure(sent, received, engine time.Time) {
	at := received.Sub(c.start)
	if received.Sub(sent) > goodTrip && c.measured > 0 && at-c.measured < measureAnyway {
		return
	}
	c.measured = at
	middle := sent.Sub(c.start) + received.Sub(sent)/2
	c.offset.Store(int64(engine.Sub(c.start.Round(0)) - middle))
}

// ahead returns how far the engine's clock is ahead of this machine's.
func (c *clock) ahead() time.Duration { return time.Until(c.now()).Round(time.Millisecond) }
