package sqlite_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Three bytes are one call: the time since the last call, how many tokens it may use, and how many
// it used.
func FuzzWindow(f *testing.F) {
	f.Add(uint8(1), uint8(100), []byte("\x00\x10\x05\x01\x40\x40\x03\x40\x00\x80\x20\xff\xff\x01\x01"))
	f.Add(uint8(0), uint8(1), []byte("\x04\x01\x01\x04\x01\x01\x04\x01\x00\xff\x01\x01"))
	lengths := []time.Duration{time.Second, time.Minute, time.Hour, limits.Day}
	f.Fuzz(func(t *testing.T, which, limit uint8, script []byte) {
		rate := limits.Rate{Unit: limits.Tokens, Limit: int64(limit) + 1, Window: lengths[which%4]}
		s := []limits.Subject{{Name: "key:a", Rates: []limits.Rate{rate}}}
		c := &clock{noon}
		r := rates(t, c.now)
		var uses []use
		for ; len(script) >= 3; script = script[3:] {
			c.at = c.at.Add(rate.Window / 100 * time.Duration(script[0]))
			most := int64(script[1])
			reading, g, refusal := r.Take(most, s)
			if refusal != nil {
				if refusal.Never != (most > rate.Limit) || refusal.Never != (refusal.RetryAfter == 0) || most <= refusal.Remaining {
					t.Fatalf("%d tokens: %+v", most, refusal)
				}
				if c.at = c.at.Add(refusal.RetryAfter); refusal.Never {
					continue
				}
				if reading, g, refusal = r.Take(most, s); refusal != nil {
					t.Fatalf("refused after waiting for RetryAfter: %+v", refusal)
				}
			}
			uses = append(uses, use{c.at, most})
			if sum := used(uses, c.at, rate.Window); sum > rate.Limit || rate.Limit-sum < reading.Remaining {
				t.Fatalf("%d of %d in one window, %d reported as remaining", sum, rate.Limit, reading.Remaining)
			}
			less := min(int64(script[2]), most)
			g.Adjust(less)
			uses[len(uses)-1].n = less
		}
		c.at = c.at.Add(rate.Window + rate.Window/60 + 61) // slots are rounded up to nanoseconds
		if got := r.Look(limits.Tokens, s); got.Remaining != rate.Limit || got.Reset != 0 {
			t.Fatalf("after everything has expired: %+v", got)
		}
	})
}
