package limitstest

import (
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Clock is the time of a test. Gateways may read it while the test changes it.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set sets the clock, forward or back.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// RunRates tests whether Rates keep their contract. open returns Rates that have counted nothing,
// read the time from the clock, and are closed with t.Cleanup.
func RunRates(t *testing.T, open func(*testing.T, *Clock) limits.Rates) {
	for _, tt := range []struct {
		name string
		test func(*rates)
	}{
		{"EveryRateOrNone", (*rates).everyRateOrNone},
		{"RefusalIsThatOfTheLongestWait", (*rates).longestWait},
		{"RefusalEndsWhenItSays", (*rates).refusalEnds},
		{"SlotsLeaveOneByOne", (*rates).slotsLeave},
		{"ClockSetBackFreesNothing", (*rates).clockBack},
		{"LimitsChangeWithoutForgetting", (*rates).changedLimits},
		{"TokensAreCorrected", (*rates).corrections},
		{"CorrectionOfAnExpiredSlot", (*rates).lateCorrections},
		{"NothingIsTaken", (*rates).nothing},
		{"ReadingCountsNothing", (*rates).reading},
		{"LongAndShortWindows", (*rates).longAndShort},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &Clock{now: Noon}
			tt.test(&rates{t, c, open(t, c)})
		})
	}
}

// rates are Rates whose errors end the test.
type rates struct {
	t     *testing.T
	clock *Clock
	limits.Rates
}

// within bounds how long a correction, which nobody waits for, may take.
const within = 20 * time.Second

func rated(t testing.TB, name string, words ...string) limits.Subject {
	t.Helper()
	s := limits.Subject{Name: name}
	for _, w := range words {
		rate, err := limits.ParseRate(w)
		if err != nil {
			t.Fatal(err)
		}
		s.Rates = append(s.Rates, rate)
	}
	return s
}

func (r *rates) ask(subjects ...limits.Subject) (limits.Reading, *limits.RateRefusal) {
	r.t.Helper()
	reading, refusal, err := r.Request(r.t.Context(), subjects)
	if err != nil {
		r.t.Fatal(err)
	}
	return reading, refusal
}

func (r *rates) take(n int64, subjects ...limits.Subject) (*limits.Grant, *limits.RateRefusal) {
	r.t.Helper()
	_, grant, refusal, err := r.Tokens(r.t.Context(), n, subjects)
	if err != nil {
		r.t.Fatal(err)
	}
	if (grant == nil) != (refusal != nil) {
		r.t.Fatalf("grant %v with refusal %+v", grant, refusal)
	}
	return grant, refusal
}

// uses returns what is counted against the rates of one subject.
func (r *rates) uses(s limits.Subject) []limits.RateUse {
	r.t.Helper()
	uses, err := r.Read(r.t.Context(), []limits.Subject{s})
	if err != nil || len(uses) != len(s.Rates) {
		r.t.Fatalf("%+v, %v", uses, err)
	}
	return uses
}

// wantUsed waits until that much is counted against the first rate.
func (r *rates) wantUsed(s limits.Subject, want int64) {
	r.t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(time.Millisecond) {
		used := r.uses(s)[0].Used
		if used == want {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%d used, want %d", used, want)
		}
	}
}

func (r *rates) pass(d time.Duration) { r.clock.Set(r.clock.Now().Add(d)) }

func (r *rates) everyRateOrNone() {
	key, tenant := rated(r.t, "key:a", "10/min", "2/s"), rated(r.t, "tenant:a", "3/min")
	tightest := []string{"key:a", "key:a", "tenant:a"}
	for i := range 5 {
		subjects := []limits.Subject{key, tenant}
		if i%2 == 1 {
			subjects = []limits.Subject{tenant, key}
		}
		reading, refusal := r.ask(subjects...)
		if i < 3 {
			if refusal != nil || reading.Subject != tightest[i] || reading.Remaining != []int64{1, 0, 0}[i] {
				r.t.Errorf("request %d: %+v, %+v", i, reading, refusal)
			}
		} else if refusal == nil || refusal.Subject != "tenant:a" || refusal.Rate.Limit != 3 || refusal.RetryAfter != 59*time.Second || refusal.Reset != 61*time.Second {
			r.t.Errorf("request %d: %+v", i, refusal)
		}
		if i == 1 {
			r.pass(2 * time.Second)
		}
	}
	r.wantUsed(key, 3)
	if reading, refusal := r.ask(); refusal != nil || reading != (limits.Reading{}) {
		r.t.Errorf("no subjects: %+v, %+v", reading, refusal)
	}
	if reading, refusal := r.ask(rated(r.t, "key:b", "5 tokens/min")); refusal != nil || reading != (limits.Reading{}) {
		r.t.Errorf("no request rate: %+v, %+v", reading, refusal)
	}
}

func (r *rates) longestWait() {
	for _, words := range [][]string{{"1/s", "1/min"}, {"1/min", "1/s"}} {
		s := rated(r.t, "key:"+words[0], words...)
		r.ask(s)
		if _, refusal := r.ask(s); refusal == nil || refusal.Rate.Window != time.Minute || refusal.RetryAfter != 61*time.Second || refusal.Remaining != 0 {
			r.t.Errorf("%q: %+v", words, refusal)
		}
	}
	s := rated(r.t, "key:a", "10 tokens/day", "5 tokens/s")
	if _, refusal := r.take(10, s); refusal == nil || !refusal.Never || refusal.Rate.Limit != 5 || refusal.RetryAfter != 0 {
		r.t.Errorf("never: %+v", refusal)
	}
}

func (r *rates) refusalEnds() {
	r.pass(123456789 * time.Nanosecond)
	for _, words := range []string{"3/s", "3/min", "3/h", "3/day"} {
		s := rated(r.t, "key:"+words, words)
		for range 3 {
			r.ask(s)
		}
		_, refusal := r.ask(s)
		if refusal == nil || refusal.RetryAfter <= s.Rates[0].Window || refusal.RetryAfter > s.Rates[0].Window*61/60+time.Millisecond {
			r.t.Fatalf("%s: %+v", words, refusal)
		}
		r.pass(refusal.RetryAfter - time.Microsecond)
		if _, again := r.ask(s); again == nil || again.RetryAfter > time.Microsecond {
			r.t.Errorf("%s: a microsecond before: %+v", words, again)
		}
		r.pass(time.Microsecond)
		if _, again := r.ask(s); again != nil {
			r.t.Errorf("%s: then: %+v", words, again)
		}
	}
}

func (r *rates) slotsLeave() {
	s := rated(r.t, "key:a", "60/min")
	for range 60 {
		if _, refusal := r.ask(s); refusal != nil {
			r.t.Fatalf("%+v", refusal)
		}
		r.pass(time.Second)
	}
	for i := range 10 { // one place a second, from the 61st second on
		if _, refusal := r.ask(s); refusal == nil || refusal.RetryAfter != time.Second {
			r.t.Fatalf("%d: %+v", i, refusal)
		}
		r.pass(time.Second)
		if reading, refusal := r.ask(s); refusal != nil || reading.Remaining != 0 || reading.Reset != 61*time.Second {
			r.t.Fatalf("%d: %+v, %+v", i, reading, refusal)
		}
	}
}

func (r *rates) clockBack() {
	s := rated(r.t, "key:a", "2/min")
	r.ask(s)
	r.ask(s)
	for _, back := range []time.Duration{time.Second, time.Hour, 1000 * time.Hour} {
		r.clock.Set(Noon.Add(-back))
		if _, refusal := r.ask(s); refusal == nil {
			r.t.Errorf("%v back: not refused", back)
		}
	}
	r.clock.Set(Noon.Add(61 * time.Second))
	if _, refusal := r.ask(s); refusal != nil {
		r.t.Errorf("when it is right again: %+v", refusal)
	}
	r.clock.Set(Noon.Add(31 * time.Second))
	r.ask(s)
	r.clock.Set(Noon.Add(121 * time.Second)) // what was dated 90 s ago happened a minute ago
	if _, refusal := r.ask(s); refusal == nil || refusal.RetryAfter != time.Second {
		r.t.Errorf("of what was used while it was wrong: %+v", refusal)
	}
}

func (r *rates) changedLimits() {
	r.ask(rated(r.t, "key:a", "2/min"))
	r.ask(rated(r.t, "key:a", "2/min"))
	if _, refusal := r.ask(rated(r.t, "key:a", "2/min")); refusal == nil {
		r.t.Error("the old limit does not hold")
	}
	if reading, refusal := r.ask(rated(r.t, "key:a", "4/min")); refusal != nil || reading.Remaining != 1 {
		r.t.Errorf("a higher limit: %+v, %+v", reading, refusal)
	}
	if _, refusal := r.ask(rated(r.t, "key:a", "1/min")); refusal == nil {
		r.t.Error("a lower limit does not hold")
	}
}

func (r *rates) reading() {
	s := rated(r.t, "key:a", "5/min", "100 tokens/min", "9/h")
	for i, use := range r.uses(s) {
		if use != (limits.RateUse{Rate: s.Rates[i]}) {
			r.t.Errorf("before the first call: %+v", use)
		}
	}
	for range 3 {
		r.ask(s)
	}
	grant, _ := r.take(10, s)
	grant.Adjust(120) // calls under way can exceed a rate of tokens
	other := rated(r.t, "key:b", "7/min")
	r.ask(other)
	r.wantUsed(rated(r.t, "key:a", "100 tokens/min"), 120)
	for range 2 {
		uses := r.uses(s)
		if uses[0].Used != 3 || uses[2].Used != 3 || uses[0].Reset != 61*time.Second || uses[2].Reset != 61*time.Minute {
			r.t.Errorf("%+v", uses)
		}
	}
	uses, err := r.Read(r.t.Context(), []limits.Subject{s, {Name: "key:c"}, other})
	if err != nil || len(uses) != 4 || uses[3].Used != 1 || uses[3].Rate.Limit != 7 {
		r.t.Errorf("several subjects: %+v, %v", uses, err)
	}
	r.pass(2 * time.Minute)
	if uses := r.uses(s); uses[0].Used != 0 || uses[0].Reset != 0 || uses[2].Used != 3 {
		r.t.Errorf("after the minute: %+v", uses)
	}
}

func (r *rates) longAndShort() {
	s := rated(r.t, "key:a", "2/s", "3/min", "4/h", "5/day")
	for i, wait := range []time.Duration{0, 0, time.Second, time.Minute, time.Hour} {
		r.pass(wait * 62 / 60)
		if _, refusal := r.ask(s); refusal != nil {
			r.t.Fatalf("request %d: %+v", i, refusal)
		}
	}
	if _, refusal := r.ask(s); refusal == nil || refusal.Rate.Window != limits.Day {
		r.t.Errorf("the day is used up: %+v", refusal)
	}
}
