package activity

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

func TestAClockThatJumpedDeletesRowsOnlyAfterAnHour(t *testing.T) {
	const day = 24 * time.Hour
	type step struct {
		after time.Duration // since the step before
		jump  time.Duration // of the clock
		span  time.Duration // of the rows to delete
		holds bool
	}
	for name, c := range map[string]struct {
		steps  []step
		warned int
	}{
		"less is deleted at once":      {[]step{{span: 2 * day}}, 0},
		"the clock stays":              {[]step{{jump: 30 * day, span: 30 * day, holds: true}, {after: 59 * time.Minute, span: 30 * day, holds: true}, {after: time.Minute, span: 30 * day}, {after: time.Hour, span: 3 * day}}, 1},
		"the clock is corrected":       {[]step{{span: 30 * day, holds: true}, {after: 30 * time.Minute, jump: -30 * day, span: 0}, {after: 40 * time.Minute, span: 0}}, 1},
		"and jumps again":              {[]step{{span: 30 * day, holds: true}, {after: 30 * time.Minute, span: 0}, {after: 40 * time.Minute, span: 30 * day, holds: true}}, 2},
		"it jumps while it is waiting": {[]step{{span: 30 * day, holds: true}, {after: 50 * time.Minute, jump: -9 * day, span: 21 * day, holds: true}, {after: 20 * time.Minute, span: 21 * day, holds: true}, {after: 40 * time.Minute, span: 21 * day}}, 2},
		"it jumps during the deletion": {[]step{{span: 30 * day, holds: true}, {after: time.Hour, span: 30 * day}, {after: time.Minute, jump: 9 * day, span: 38 * day, holds: true}}, 2},
		"NTP slews it":                 {[]step{{span: 30 * day, holds: true}, {after: time.Hour, jump: 2 * time.Second, span: 30 * day}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, logs := observer.New(zapcore.WarnLevel)
				g, wall := NewClockGuard(zap.New(core)), time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
				for i, s := range c.steps {
					time.Sleep(s.after)
					wall = wall.Add(s.after + s.jump)
					if holds := g.Holds(wall, s.span); holds != s.holds {
						t.Errorf("step %d: %v", i, holds)
					}
				}
				if logs.Len() != c.warned {
					t.Errorf("%d warnings", logs.Len())
				}
			})
		})
	}
}
