package memory

import (
	"context"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestMemoryTakesAllOrNothing(t *testing.T) {
	var m Semaphore
	m.SetLimit(100)
	if !m.Take(60) || m.Take(41) {
		t.Fatal("60 of 100 must fit, 41 more must not")
	}
	if m.Used() != 60 {
		t.Errorf("a refused Take left %d bytes taken, want 60", m.Used())
	}
	if !m.Take(40) {
		t.Error("the rest must fit to the byte")
	}
	m.Give(100)
	if m.Used() != 0 {
		t.Errorf("%d bytes are left", m.Used())
	}
}

func TestALowerLimitHoldsForWhatComes(t *testing.T) {
	var m Semaphore
	m.SetLimit(100)
	m.Take(90)
	m.SetLimit(50)
	if m.Take(1) {
		t.Error("above the new limit nothing more may be taken")
	}
	m.Give(90)
	if !m.Take(50) || m.Take(1) {
		t.Error("the new limit does not hold")
	}
}

func TestMemoryIsNeverOverTheLimitInAStampede(t *testing.T) {
	var m Semaphore
	m.SetLimit(8)
	var held atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 500 {
				if m.Take(1) {
					if n := held.Add(1); n > 8 {
						t.Errorf("%d bytes are held at once", n)
					}
					held.Add(-1)
					m.Give(1)
				}
			}
		})
	}
	all.Wait()
	if m.Used() != 0 {
		t.Errorf("%d bytes are left", m.Used())
	}
}

func TestTheDefaultFollowsTheMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(4 << 30)
	defer debug.SetMemoryLimit(before)
	if got := Default(64 << 20); got != 1<<30 {
		t.Errorf("with a limit of 4 GiB: %d", got)
	}
	debug.SetMemoryLimit(60 << 20)
	if got := Default(64 << 20); got != 64<<20 {
		t.Errorf("with a limit of 60 MiB: %d", got)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	if got := Default(64 << 20); got != 1<<30 {
		t.Errorf("without a limit: %d", got)
	}
}

func TestADefaultIsAQuarterOfTheLimit(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64 - 1)
	defer debug.SetMemoryLimit(before)
	if got := Default(1); got != 1<<30 {
		t.Errorf("with the largest limit: %d", got)
	}
	debug.SetMemoryLimit(2 << 30)
	if got := Default(1); got != 512<<20 {
		t.Errorf("with a limit of 2 GiB: %d", got)
	}
}

func TestWaitTakesWhatIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Semaphore
		m.SetLimit(100)
		m.Take(100)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if !m.Wait(t.Context(), 30, time.Minute) {
					t.Error("what was given back was not taken")
				}
			})
		}
		synctest.Wait()
		m.Give(20)
		synctest.Wait()
		if m.Used() != 80 {
			t.Fatalf("%d bytes are taken, and 30 do not fit", m.Used())
		}
		m.Give(20)
		synctest.Wait()
		if m.Used() != 90 {
			t.Errorf("%d bytes are taken: one of two fits", m.Used())
		}
		m.SetLimit(200)
		all.Wait()
		begun := time.Now()
		if m.Wait(t.Context(), 100, 5*time.Second) || time.Since(begun) != 5*time.Second {
			t.Errorf("more than there is was taken, or not waited for: %s", time.Since(begun))
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if m.Wait(gone, 100, time.Minute) || m.Used() != 120 || m.waited.Load() && m.given == nil {
			t.Errorf("%d bytes are taken after the caller has left", m.Used())
		}
	})
}

func TestSomeLeaveEighthsForOthers(t *testing.T) {
	var m Semaphore
	m.SetLimit(80)
	if !m.TakeLeaving(2, 60) || m.TakeLeaving(2, 1) || !m.TakeLeaving(1, 10) || m.TakeLeaving(1, 1) || !m.Take(10) || m.Take(1) {
		t.Errorf("%d of 80 bytes are taken", m.Used())
	}
}
