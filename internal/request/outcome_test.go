package request

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// The clock is read once a stream, and not for each event.
func TestTheFirstTokenIsTimedOnce(t *testing.T) {
	begun := time.Unix(1000, 0)
	reads := 0
	after := func(d time.Duration) func() time.Time {
		return func() time.Time { reads++; return begun.Add(d) }
	}
	for first, want := range map[time.Duration]time.Duration{0: 1, 2 * time.Second: 2 * time.Second} { // a clock can be coarse
		o := Outcome{Begun: begun, Record: new(activity.Record)}
		reads = 0
		o.FirstEvent(after(first))
		o.FirstEvent(after(time.Minute))
		if o.Record.FirstToken != want || reads != 1 {
			t.Errorf("%s after %d reads of the clock", o.Record.FirstToken, reads)
		}
	}
}
