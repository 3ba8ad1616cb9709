package vncrelay

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestASessionEndsWhenItsLastInputIsTheIdleTimeoutOld(t *testing.T) {
	const limit = 4 * time.Second
	for name, inputs := range map[string][]time.Duration{
		"without input":              nil,
		"after one early key":        {time.Millisecond},
		"after one late key":         {limit - time.Millisecond},
		"after input over some time": {time.Second, 3 * time.Second, 6 * time.Second, 6*time.Second + 1, 9 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				var last atomic.Int64 // since begun
				ended := make(chan time.Duration, 1)
				lastInput := func() time.Time { return begun.Add(time.Duration(last.Load())) }
				defer watchIdle(limit, lastInput, func() { ended <- time.Since(begun) })()
				want := limit
				for _, at := range inputs {
					time.Sleep(time.Until(begun.Add(at)))
					last.Store(int64(at))
					want = at + limit
				}
				if got := <-ended; got != want {
					t.Errorf("it ended after %v, want %v", got, want)
				}
			})
		})
	}
}

func TestASessionThatIsOverIsNotEndedAsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := func() { t.Error("it was ended") }
		noInput := func() time.Time { return time.Time{} }
		watchIdle(time.Minute, noInput, end)()
		defer watchIdle(0, noInput, end)() // no limit
		time.Sleep(time.Hour)
	})
}
