package sqlite_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
)

// clock is the time that the tests control.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func rates(t testing.TB, now func() time.Time) *sqlite.Rates {
	t.Helper()
	r, err := sqlite.NewRates(t.Context(), nil, now)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func rated(t testing.TB, name string, words ...string) limits.Subject {
	t.Helper()
	s := limits.Subject{Name: name}
	for _, w := range words {
		r, err := limits.ParseRate(w)
		if err != nil {
			t.Fatal(err)
		}
		s.Rates = append(s.Rates, r)
	}
	return s
}

type use struct {
	at time.Time
	n  int64
}

// used returns the sum of the uses in the window that ends at a time.
func used(uses []use, at time.Time, window time.Duration) (sum int64) {
	for i := len(uses) - 1; i >= 0 && at.Sub(uses[i].at) < window; i-- {
		sum += uses[i].n
	}
	return sum
}

// At random times, no window holds more than the limit. A caller that waits for RetryAfter is
// admitted, and not earlier.
func TestNoWindowHoldsMoreThanTheLimit(t *testing.T) {
	for _, words := range []string{"7/s", "1/min", "60/min", "50/h", "9/day", "1000 tokens/s", "5k tokens/min", "100k tokens/day"} {
		t.Run(words, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			c := &clock{noon.Add(123456789)}
			r := rates(t, c.now)
			s := []limits.Subject{rated(t, "key:a", words)}
			rate := s[0].Rates[0]
			take := func(n int64) *limits.RateRefusal {
				if rate.Unit == limits.Requests {
					_, refusal := r.Ask(s)
					return refusal
				}
				_, _, refusal := r.Take(n, s)
				return refusal
			}
			var uses []use
			refused := 0
			for range 4000 {
				n, gap := int64(1), int64(rate.Window)/rate.Limit*4/3
				if rate.Unit == limits.Tokens {
					n, gap = random.Int64N(rate.Limit/10)+1, int64(rate.Window)/20
				}
				c.at = c.at.Add(time.Duration(random.Int64N(gap)))
				refusal := take(n)
				if refusal != nil {
					refused++
					if refusal.RetryAfter <= 0 || refusal.RetryAfter > rate.Window+rate.Window/60+time.Second/60 || refusal.Never {
						t.Fatalf("retry after %v", refusal.RetryAfter)
					}
					c.at = c.at.Add(refusal.RetryAfter - 1)
					if early := take(n); early == nil || early.RetryAfter != 1 {
						t.Fatalf("a nanosecond early: %+v", early)
					}
					c.at = c.at.Add(1)
					if again := take(n); again != nil {
						t.Fatalf("refused after waiting for RetryAfter: %+v", again)
					}
				}
				uses = append(uses, use{c.at, n})
				if sum := used(uses, c.at, rate.Window); sum > rate.Limit {
					t.Fatalf("%d in one window", sum)
				}
			}
			if refused < 20 {
				t.Errorf("only %d refusals", refused)
			}
		})
	}
}

func TestSteadyCallerGetsNearlyTheWholeRate(t *testing.T) {
	c := &clock{noon}
	r := rates(t, c.now)
	s := []limits.Subject{rated(t, "key:a", "100/min")}
	taken := 0
	for range 61 * 60 * 10 { // 61 minutes in tenths of a second
		if _, refusal := r.Ask(s); refusal == nil {
			taken++
		}
		c.at = c.at.Add(time.Second / 10)
	}
	if taken != 61*100*60/61 {
		t.Errorf("%d of 6100 in 61 minutes", taken)
	}
}
