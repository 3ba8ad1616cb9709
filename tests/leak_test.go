package tests

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// noGoroutines waits until nothing of Gatehouse runs any more.
func noGoroutines(t *testing.T) {
	t.Helper()
	var left []string
	if !eventually(func() bool { left = ourGoroutines(); return len(left) == 0 }) {
		t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
	}
}

func ourGoroutines() (ours []string) {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, stack := range strings.Split(string(stacks), "\n\n") {
		if strings.Contains(stack, "gatehouse/handlers.") || strings.Contains(stack, "gatehouse/caddymodule.") || strings.Contains(stack, "gatehouse/l4vnc.") ||
			strings.Contains(stack, "gatehouse/internal/") && !strings.Contains(stack, "gatehouse/internal/testprovider/faults.") {
			ours = append(ours, stack)
		}
	}
	return ours
}

// eventually polls for a condition that cannot be waited for.
func eventually(ok func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(waitLimit); ; {
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
