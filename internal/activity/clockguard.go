package activity

import (
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// maxPruned is the time whose rows are deleted at once without a delay. A gateway that runs has less
	// to delete. More means that the clock has jumped, the gateway was off, or retention is shorter now.
	maxPruned = 48 * time.Hour
	// pruneDelay is how long the clock must go on from there before the rows are deleted: an
	// operator, or NTP, can correct it meanwhile.
	pruneDelay = time.Hour
	// clockSlack is how far the clock may be from the monotonic one meanwhile.
	clockSlack = time.Minute
)

// ClockGuard delays the deletion of many rows by age, which a wrong clock would ask for. It is safe
// for concurrent use.
type ClockGuard struct {
	logger *zap.Logger
	Began  time.Time // with the monotonic clock

	mu      sync.Mutex    // guards the following
	waiting bool          // or the wait is over, and not all of these rows are deleted yet
	wall    time.Time     // when the wait began, by the clock that rows are deleted by
	since   time.Duration // when the wait began, after began
}

func NewClockGuard(logger *zap.Logger) *ClockGuard {
	return &ClockGuard{logger: logger, Began: time.Now()}
}

// Holds reports whether rows must not be deleted by age yet. Span is the time that the rows to
// delete are of, at the time now.
func (g *ClockGuard) Holds(now time.Time, span time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now = now.Round(0) // without the monotonic clock
	elapsed := time.Since(g.Began)
	if span <= maxPruned {
		g.waiting = false
		return false
	}
	if drift := now.Sub(g.wall) - (elapsed - g.since); !g.waiting || drift.Abs() > clockSlack {
		g.waiting, g.wall, g.since = true, now, elapsed
		g.logger.Warn("the rows of many days are too old at once: they are deleted after a delay, unless the clock is corrected",
			zap.Duration("of", span.Truncate(time.Second)), zap.Time("clock", now), zap.Duration("delay", pruneDelay))
	}
	return elapsed-g.since < pruneDelay
}
