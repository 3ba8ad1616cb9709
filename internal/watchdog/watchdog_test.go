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
