package failover_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/failover"
)

const (
	healthy = failover.StateHealthy
	failing = failover.StateFailing
	cooling = failover.StateCooling
	probing = failover.StateProbing
)

func TestWhatCoolsATarget(t *testing.T) {
	for name, c := range map[string]struct {
		results []failover.Result
		state   string
		cools   time.Duration
	}{
		"two failures":                    {[]failover.Result{failure, failure}, healthy, 0},
		"three in a row":                  {[]failover.Result{success, failure, failure, failure}, cooling, 5 * time.Second},
		"three, not in a row":             {[]failover.Result{success, failure, failure, success, success, success, failure}, healthy, 0},
		"half of five":                    {[]failover.Result{failure, success, failure, success, failure}, cooling, 5 * time.Second},
		"half of four":                    {[]failover.Result{success, failure, success, failure}, healthy, 0},
		"neutral between":                 {[]failover.Result{failure, neutral, failure, neutral, failure}, cooling, 5 * time.Second},
		"the caller's errors":             {slices.Repeat([]failover.Result{neutral}, 100), healthy, 0},
		"one rate limit":                  {[]failover.Result{limited}, cooling, 5 * time.Second},
		"a rate limit with a time":        {[]failover.Result{after(limited, 2*time.Second)}, cooling, 2 * time.Second},
		"a rate limit for an hour":        {[]failover.Result{after(limited, time.Hour)}, cooling, 2 * time.Minute},
		"overloaded, with a time":         {[]failover.Result{after(failure, 7*time.Second)}, cooling, 7 * time.Second},
		"the key of the operator refused": {[]failover.Result{lasting}, cooling, 10 * time.Minute},
		"a shorter pause later":           {[]failover.Result{after(limited, time.Minute), after(limited, time.Second)}, cooling, time.Minute},
		"a longer pause later":            {[]failover.Result{after(limited, time.Second), after(limited, time.Minute)}, cooling, time.Minute},
		"a failure within a pause":        {[]failover.Result{after(limited, time.Minute), failure}, cooling, time.Minute},
		"lasting within a pause":          {[]failover.Result{after(limited, time.Minute), lasting}, cooling, 10 * time.Minute},
		"a pause within lasting":          {[]failover.Result{lasting, after(limited, time.Minute)}, cooling, 10 * time.Minute},
		"a pause, then failures, then success": {
			[]failover.Result{after(limited, 6*time.Second), failure, failure, failure, success}, cooling, 20 * time.Second},
		"success before the pause is over": {
			[]failover.Result{after(limited, time.Minute), success}, cooling, time.Minute},
		"success although it was cooled": {[]failover.Result{failure, failure, failure, success}, healthy, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			for _, r := range c.results {
				b.attempt("a", r)
			}
			b.want("a", c.state, c.cools)
		})
	}
}

func TestOnlyTheLastMinuteCounts(t *testing.T) {
	b := newBench(t)
	b.attempts("a", 2, failure)
	b.attempt("a", success)
	b.attempt("a", failure)
	b.wait(59 * time.Second)
	if s := b.status("a"); s.Attempts != 4 || s.Failures != 3 {
		t.Errorf("after 59 s: %+v", s)
	}
	b.wait(time.Second)
	if s := b.status("a"); s.Attempts != 0 || s.Failures != 0 {
		t.Errorf("after a minute: %+v", s)
	}
	b.attempt("a", success)
	b.attempt("a", failure)
	b.want("a", healthy, 0)
}

// The failures that cooled a target do not cool it again at the first failure after its recovery.
func TestARecoveredTargetStartsAfresh(t *testing.T) {
	b := newBench(t)
	b.attempts("a", 2, success)
	b.attempts("a", 3, failure)
	b.wait(5 * time.Second)
	b.attempt("a", success)
	b.attempts("a", 2, failure)
	b.want("a", healthy, 0)
	b.attempt("a", failure)
	b.want("a", cooling, 5*time.Second) // one cool-down before, halved
	if s := b.status("a"); s.Attempts != 9 || s.Failures != 6 {
		t.Errorf("the list shows %+v", s)
	}
}

func TestCoolDownsDoubleAndARecoveryHalvesThem(t *testing.T) {
	b := newBench(t)
	b.attempts("a", 3, failure)
	for _, seconds := range []int{5, 10, 20, 30, 30} {
		cools := time.Duration(seconds) * time.Second
		b.want("a", cooling, cools)
		b.wait(cools)
		b.want("a", probing, 0)
		b.attempt("a", failure)
	}
	b.wait(30 * time.Second)
	b.attempt("a", success) // level 3 becomes 1
	b.want("a", healthy, 0)
	b.attempts("a", 3, failure)
	b.want("a", cooling, 10*time.Second)
}

func TestJitterNeverCutsWhatTheProviderAskedForAndNeverExceedsTheLongest(t *testing.T) {
	for name, c := range map[string]struct {
		results []failover.Result
		cools   time.Duration
	}{
		"failures":           {[]failover.Result{failure, failure, failure}, 4500 * time.Millisecond},
		"a pause":            {[]failover.Result{after(limited, 20*time.Second)}, 22 * time.Second},
		"the longest pause":  {[]failover.Result{after(limited, 119*time.Second)}, 2 * time.Minute},
		"the longest of all": {slices.Repeat([]failover.Result{limited}, 9), 27 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Health = failover.NewHealth(b.now, func() float64 { return 1 }, func(failover.Change) {})
			for _, r := range c.results {
				b.attempt("a", r)
			}
			b.want("a", cooling, c.cools)
		})
	}
}

// Calls that were under way when a target was cooled fail together: that is one cool-down.
func TestFailuresOfEarlierAttemptsDoNotProlongACoolDown(t *testing.T) {
	b := newBench(t)
	var trials []failover.Trial
	for range 20 {
		trials = append(trials, b.Begin("a", false))
	}
	for i := range trials {
		trials[i].End(failure)
	}
	b.want("a", cooling, 5*time.Second)
	b.wait(5 * time.Second)
	b.attempt("a", failure)
	b.want("a", cooling, 10*time.Second)
}

// A stream that began before the outage says nothing of the time after.
func TestASuccessOfAnEarlierAttemptEndsNoCoolDown(t *testing.T) {
	b := newBench(t)
	old, older := b.Begin("a", false), b.Begin("b", false)
	b.attempts("a", 3, failure)
	old.FirstContent()
	old.End(success)
	b.want("a", cooling, 5*time.Second)
	for range 3 {
		lone := b.Begin("b", true)
		lone.End(failure)
	}
	b.want("b", failing, 0)
	b.attempt("b", failure)
	older.End(success)
	b.want("b", cooling, 5*time.Second)
}

func TestALoneTargetIsNeverCooled(t *testing.T) {
	b := newBench(t)
	for _, r := range []failover.Result{failure, failure, failure, after(limited, time.Minute), lasting, failure} {
		trial := b.Begin("a", true)
		trial.End(r)
	}
	b.want("a", failing, 0)
	if got := b.order(group("a", "b")); len(got) != 2 {
		t.Fatal(got)
	}
	if s := b.status("a"); s.Attempts != 6 || s.Failures != 6 || s.LastClass != failover.Failure || !s.Unhealthy {
		t.Errorf("record %+v", s)
	}
	trial := b.Begin("a", true)
	trial.End(success)
	b.want("a", healthy, 0)

	// For a call that has another target the record counts.
	for range 3 {
		trial := b.Begin("b", true)
		trial.End(failure)
	}
	b.attempt("b", failure)
	b.want("b", cooling, 5*time.Second)
	trial = b.Begin("b", true)
	trial.End(failure)
	b.want("b", cooling, 5*time.Second)
	trial = b.Begin("b", true)
	trial.End(success)
	b.want("b", healthy, 0)
}

func TestALoneTargetThatAsksForAPauseIsNotUnhealthy(t *testing.T) {
	b := newBench(t)
	for range 10 {
		trial := b.Begin("a", true)
		trial.End(after(limited, time.Minute))
	}
	trial := b.Begin("b", true)
	trial.End(after(failure, time.Minute))
	b.want("a", healthy, 0)
	b.want("b", healthy, 0)
}

func TestChangesAreReportedOnce(t *testing.T) {
	b := newBench(t)
	b.attempt("limited", after(limited, time.Minute))
	b.attempts("overloaded", 2, after(failure, time.Second))
	b.attempt("overloaded", success)
	if len(b.changes) != 0 {
		t.Fatalf("pauses are reported: %+v", b.changes)
	}
	b.attempts("a", 3, failure)
	for range 3 {
		b.wait(time.Minute)
		b.attempt("a", failure)
	}
	b.wait(time.Minute)
	b.attempt("a", lasting)
	b.attempt("a", failure)
	b.wait(time.Hour)
	b.attempts("a", 2, success)
	var got []string
	for _, c := range b.changes {
		got = append(got, fmt.Sprintf("%s %t %s", c.ID, c.Healthy, c.Class))
	}
	if want := []string{"a false failure", "a false lasting", "a true success"}; !slices.Equal(got, want) {
		t.Errorf("changes %v, want %v", got, want)
	}
}

// What an operator must mend may be mended by a new configuration or a new key.
func TestRetryLastingMakesAProbeDue(t *testing.T) {
	b := newBench(t)
	for _, id := range []string{"acme/a", "other/a", "acme/c"} {
		b.attempt(id, lasting)
	}
	b.attempt("acme/a", failure)
	b.attempt("acme/c", after(limited, time.Minute))
	b.attempts("acme/b", 3, failure)
	b.RetryLasting("acme")
	b.want("acme/a", probing, 0)
	b.want("acme/b", cooling, 5*time.Second)
	b.want("acme/c", cooling, time.Minute)
	b.want("other/a", cooling, 10*time.Minute)
	b.RetryLasting("")
	b.want("other/a", probing, 0)
}

// Where a provider takes any model, callers choose the names.
func TestTheTableIsBounded(t *testing.T) {
	b := newBench(t)
	b.attempts("down", 3, failure)
	for i := range 5000 {
		b.attempt(fmt.Sprint("made-up/", i), success)
	}
	if n := len(b.Snapshot()); n != 4096 {
		t.Fatalf("%d targets", n)
	}
	var ignored failover.Trial
	ignored.FirstContent()
	ignored.End(failure)
	b.wait(2 * time.Minute)
	b.attempts("late", 3, failure)
	b.want("late", cooling, 5*time.Second)
	if n := len(b.Snapshot()); n != 1 {
		t.Fatalf("%d targets after two minutes", n)
	}
}

func TestUnusedTargetsAreForgottenUnlessTheyAreUnhealthyOrInUse(t *testing.T) {
	b := newBench(t)
	trial := b.Begin("open", false)
	b.attempt("idle", success)
	b.attempt("limited", limited)
	b.attempts("unhealthy", 3, failure)
	b.wait(2 * time.Hour)
	b.attempt("new", success)
	var got []string
	for _, s := range b.Snapshot() {
		got = append(got, s.ID)
	}
	if !slices.Equal(got, []string{"new", "open", "unhealthy"}) {
		t.Errorf("kept %v", got)
	}
	trial.End(failure)
	if b.status("open").Failures != 1 {
		t.Error("the end of a long attempt is lost")
	}
	b.attempt("unhealthy", success)
	if n := len(b.changes); n != 2 || !b.changes[1].Healthy {
		t.Errorf("changes %+v", b.changes)
	}
}
