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

func TestRateThatRefusesTakesNothingElsewhere(t *testing.T) {
	c := &clock{noon}
	r := rates(t, c.now)
	key, tenant := rated(t, "key:a", "10/min", "2/s"), rated(t, "tenant:a", "3/min")
	for i := range 5 {
		subjects := []limits.Subject{key, tenant}
		if i%2 == 1 {
			subjects = []limits.Subject{tenant, key}
		}
		reading, refusal := r.Ask(subjects)
		if i < 3 {
			if refusal != nil || reading.Subject != []string{"key:a", "key:a", "tenant:a"}[i] || reading.Remaining != []int64{1, 0, 0}[i] {
				t.Errorf("request %d: %+v, %+v", i, reading, refusal)
			}
		} else if refusal == nil || refusal.Subject != "tenant:a" || refusal.Rate.Limit != 3 || refusal.RetryAfter != 59*time.Second || refusal.Reset != 61*time.Second {
			t.Errorf("request %d: %+v", i, refusal)
		}
		if i == 1 {
			c.at = c.at.Add(2 * time.Second)
		}
	}
	if got := r.Look(limits.Requests, []limits.Subject{rated(t, "key:a", "10/min")}); got.Remaining != 7 || got.Reset != 61*time.Second {
		t.Errorf("the key's reading %+v", got)
	}
	if got := r.Look(limits.Tokens, []limits.Subject{key, tenant}); got != (limits.Reading{}) {
		t.Errorf("no rate of tokens: %+v", got)
	}
	if got, refusal := r.Ask(nil); got != (limits.Reading{}) || refusal != nil {
		t.Errorf("no subjects: %+v, %+v", got, refusal)
	}
}

func TestRefusalIsThatOfTheLongestWait(t *testing.T) {
	r := rates(t, (&clock{noon}).now)
	for _, words := range [][]string{{"1/s", "1/min"}, {"1/min", "1/s"}} {
		s := []limits.Subject{rated(t, "key:"+words[0], words...)}
		r.Ask(s)
		if _, refusal := r.Ask(s); refusal == nil || refusal.Rate.Window != time.Minute || refusal.RetryAfter != 61*time.Second {
			t.Errorf("%q: %+v", words, refusal)
		}
	}
	s := []limits.Subject{rated(t, "key:a", "10 tokens/day", "5 tokens/s")}
	if _, _, refusal := r.Take(10, s); refusal == nil || !refusal.Never || refusal.Rate.Limit != 5 {
		t.Errorf("never: %+v", refusal)
	}
}

func TestTokensAreCorrected(t *testing.T) {
	c := &clock{noon}
	r := rates(t, c.now)
	s := []limits.Subject{rated(t, "key:a", "1000 tokens/min")}
	remaining := func(want int64) {
		t.Helper()
		if got := r.Look(limits.Tokens, s).Remaining; got != want {
			t.Errorf("%d remain, want %d", got, want)
		}
	}
	take := func(n int64) *limits.Grant {
		t.Helper()
		_, g, refusal := r.Take(n, s)
		if refusal != nil {
			t.Fatalf("%+v", refusal)
		}
		return g
	}
	less := take(800)
	remaining(200)
	less.Adjust(300)
	less.Adjust(0) // only the first call has an effect
	remaining(700)

	c.at = c.at.Add(30 * time.Second)
	more := take(100)
	more.Adjust(900)
	remaining(0)
	_, _, refusal := r.Take(1, s) // 200 over: the first 300 must expire
	if refusal == nil || refusal.RetryAfter != 31*time.Second || refusal.Never {
		t.Errorf("after an overrun: %+v", refusal)
	}

	_, _, refusal = r.Take(1001, s)
	if refusal == nil || !refusal.Never || refusal.RetryAfter != 0 {
		t.Errorf("more than the limit: %+v", refusal)
	}

	c.at = c.at.Add(2 * time.Minute)
	remaining(1000)
	late := take(600)
	c.at = c.at.Add(2 * time.Minute)
	late.Adjust(100) // its slot has expired
	remaining(1000)
	later := take(1)
	c.at = c.at.Add(2 * time.Minute)
	later.Adjust(401) // more than was taken
	remaining(600)
	c.at = c.at.Add(2 * time.Minute)
	stale := take(600)
	c.at = c.at.Add(61 * time.Second) // the window's slots are all new
	take(500)
	stale.Adjust(0) // gives back nothing of another call
	remaining(500)
	c.at = c.at.Add(2 * time.Minute)
	take(400)
	var none *limits.Grant
	none.Adjust(5)
	take(0).Adjust(-5)
	remaining(600)
}

func TestClockSetBackFreesNothing(t *testing.T) {
	c := &clock{noon}
	r := rates(t, c.now)
	s := []limits.Subject{rated(t, "key:a", "2/min")}
	r.Ask(s)
	r.Ask(s)
	for _, back := range []time.Duration{time.Second, time.Hour, 1000 * time.Hour, 1e6 * time.Hour} {
		c.at = noon.Add(-back)
		if _, refusal := r.Ask(s); refusal == nil {
			t.Errorf("%v back: not refused", back)
		}
	}
	c.at = noon.Add(61 * time.Second)
	if _, refusal := r.Ask(s); refusal != nil {
		t.Errorf("when it is right again: %+v", refusal)
	}
	c.at = noon.Add(31 * time.Second)
	r.Ask(s)
	c.at = noon.Add(121 * time.Second) // what was dated 90 s ago happened a minute ago
	if _, refusal := r.Ask(s); refusal == nil || refusal.RetryAfter != time.Second {
		t.Errorf("of what was used while it was wrong: %+v", refusal)
	}
}
