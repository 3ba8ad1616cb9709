package cluster

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTheClockFollowsTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		ahead := func() time.Duration { return time.Until(c.now()) }
		if ahead() != 0 {
			t.Errorf("before a measurement: %v", ahead())
		}
		// trip measures by an engine that is a day ahead, or more.
		trip := func(there, back, more time.Duration) {
			sent := time.Now()
			time.Sleep(there)
			engine := time.Now().Add(24*time.Hour + more)
			time.Sleep(back)
			c.measure(sent, time.Now(), engine)
		}
		trip(time.Millisecond, time.Millisecond, 0)
		if ahead() != 24*time.Hour {
			t.Errorf("%v", ahead())
		}
		trip(time.Millisecond, time.Second, 0)
		if ahead() != 24*time.Hour {
			t.Errorf("a slow answer has moved the clock to %v", ahead())
		}
		time.Sleep(measureAnyway)
		trip(time.Second, time.Second, time.Hour)
		if ahead() != 25*time.Hour {
			t.Errorf("%v", ahead())
		}
	})
}
