package l4vnc

import (
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
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

// A workstation that reads nothing holds up a write, and the relay's lock with it, for two minutes.
func TestTheLastInputIsKnownWhileAWriteIsStuck(t *testing.T) {
	ours, desktop := net.Pipe()
	defer func() { _, _ = ours.Close(), desktop.Close() }()
	r := &relay{filter: rfb.NewFilter(rfb.Policy{}), workstation: ours, begun: time.Now().Add(-time.Hour)}
	before := time.Now()
	go r.pass([]byte{5, 0, 0, 1, 0, 1})
	if _, err := desktop.Read(make([]byte, 1)); err != nil { // the write has begun
		t.Fatal(err)
	}
	last := make(chan time.Time, 1)
	go func() { last <- r.lastInput() }()
	select {
	case at := <-last:
		if at.Before(before) {
			t.Errorf("the last input was at %v, before %v", at, before)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for the write")
	}
}
