package harness

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// Eventually polls for a condition that cannot be waited for.
func Eventually(ok func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(WaitLimit); ; {
		if ok() {
			return true
		}
		select {
		case <-tick.C:
		case <-deadline:
			return false
		}
	}
}

// noGoroutines waits until nothing of Gatehouse runs any more.
func noGoroutines(t *testing.T) {
	t.Helper()
	var left []string
	if !Eventually(func() bool { left = ourGoroutines(); return len(left) == 0 }) {
		t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
	}
}

func ourGoroutines() (ours []string) {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, stack := range strings.Split(string(stacks), "\n\n") {
		if strings.Contains(stack, "gatehouse/handlers.") || strings.Contains(stack, "gatehouse/caddymodule.") || strings.Contains(stack, "gatehouse/l4vnc.") ||
			strings.Contains(stack, "gatehouse/internal/") && !strings.Contains(stack, "gatehouse/internal/testkit/faults.") {
			ours = append(ours, stack)
		}
	}
	return ours
}

// P99 is the 99th percentile of sorted times.
func P99(sorted []time.Duration) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)*99/100]
}
