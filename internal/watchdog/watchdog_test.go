package watchdog

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

type counter struct{ expired atomic.Int32 }

func (c *counter) Expire() { c.expired.Add(1) }

func TestAWaitExpiresOnceAfterItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var timer Timer
		var c counter
		timer.Start(time.Second, &c)
		time.Sleep(time.Second - 1)
		if synctest.Wait(); c.expired.Load() != 0 {
			t.Fatal("it expired early")
		}
		time.Sleep(time.Hour)
		if synctest.Wait(); c.expired.Load() != 1 {
			t.Fatalf("it expired %d times", c.expired.Load())
		}
	})
}

func TestAStoppedWaitDoesNotExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var timer Timer
		timer.Stop()
		var first, second counter
		timer.Start(time.Second, &first)
		timer.Stop()
		timer.Start(time.Minute, &second)
		time.Sleep(30 * time.Second)
		if synctest.Wait(); first.expired.Load() != 0 || second.expired.Load() != 0 {
			t.Fatalf("expired %d and %d times", first.expired.Load(), second.expired.Load())
		}
		time.Sleep(time.Minute)
		if synctest.Wait(); first.expired.Load() != 0 || second.expired.Load() != 1 {
			t.Fatalf("expired %d and %d times, want 0 and 1", first.expired.Load(), second.expired.Load())
		}
	})
}

// A timer can fire while the next wait begins: the late run must not end that one.
func TestALateTimerDoesNotEndTheNextWait(t *testing.T) {
	var timer Timer
	var c counter
	timer.Start(time.Hour, &c)
	timer.fire()
	if c.expired.Load() != 0 {
		t.Error("the next wait was ended")
	}
	timer.Stop()
	timer.fire()
	if c.expired.Load() != 0 {
		t.Error("a wait that is over was ended")
	}
}

// A timer can also fire when its wait has just been stopped.
func TestALateTimerDoesNotEndAWaitThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var timer Timer
		var c counter
		timer.Start(time.Second, &c)
		timer.Stop()
		time.Sleep(time.Second)
		if timer.fire(); c.expired.Load() != 0 {
			t.Error("it was ended")
		}
	})
}

// A long wait leaves its timer set. One that ends earlier must not wait for that, and one that ends
// later must not end with it.
func TestEachWaitHasItsOwnLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var timer Timer
		var long, short, longer counter
		timer.Start(time.Hour, &long)
		timer.Stop()
		timer.Start(time.Second, &short)
		time.Sleep(time.Second)
		if synctest.Wait(); short.expired.Load() != 1 {
			t.Fatal("the short wait did not end")
		}
		timer.Start(time.Minute, &long)
		timer.Start(time.Hour, &longer)
		time.Sleep(time.Hour - time.Millisecond)
		if synctest.Wait(); longer.expired.Load() != 0 {
			t.Fatal("the longer wait ended early")
		}
		time.Sleep(time.Millisecond)
		if synctest.Wait(); longer.expired.Load() != 1 || long.expired.Load() != 0 || short.expired.Load() != 1 {
			t.Fatalf("the longer wait expired %d times, the others %d and %d", longer.expired.Load(), long.expired.Load(), short.expired.Load())
		}
	})
}

func TestAClosedTimerHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var timer Timer
		timer.Close()
		var c counter
		timer.Start(time.Second, &c)
		timer.Close()
		if timer.timer.Stop() {
			t.Error("the runtime's timer is still set")
		}
		time.Sleep(time.Hour)
		if synctest.Wait(); c.expired.Load() != 0 {
			t.Error("it expired")
		}
	})
}

// Waits that are ended just when they are over never expire after Stop, whoever waits then.
func TestNoWaitExpiresAfterItsStop(t *testing.T) {
	var timer Timer
	defer timer.Close()
	for range 2000 {
		c := new(counter)
		timer.Start(time.Microsecond, c)
		timer.Stop()
		before := c.expired.Load()
		timer.Start(time.Microsecond, new(counter))
		timer.Stop()
		if c.expired.Load() != before {
			t.Fatal("it expired after its Stop")
		}
	}
}
