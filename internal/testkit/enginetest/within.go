//go:build unix

package enginetest

import "time"

// lookInterval is the time between two looks at a condition.
const lookInterval = 2 * time.Millisecond

// Within waits until a condition holds, which an engine or a gateway brings about, and returns how long
// that took. The test fails after the bound.
func Within(t T, bound time.Duration, what string, holds func() bool) time.Duration {
	t.Helper()
	began, tick := time.Now(), time.NewTicker(lookInterval)
	defer tick.Stop()
	for !holds() {
		if time.Since(began) > bound {
			t.Fatalf("not within %v: %s", bound, what)
		}
		<-tick.C
	}
	return time.Since(began)
}
