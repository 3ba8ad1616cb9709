package sqlite_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
)

func TestNamesBeyondMemoryShareWindows(t *testing.T) {
	c := &clock{noon}
	r := rates(t, c.now)
	sqlite.LimitRateSubjects(r, 1)
	const names = 3000
	admitted := 0
	for i := range names {
		if _, refusal := r.Ask([]limits.Subject{rated(t, fmt.Sprint("model:", i), "1/min")}); refusal == nil {
			admitted++
		}
	}
	if known := sqlite.Known(r); known != 64 || admitted != known+1 {
		t.Errorf("%d names have windows of their own, %d of %d requests admitted", known, admitted, names)
	}
	c.at = c.at.Add(2 * time.Minute) // all may be forgotten
	for i := range names {
		if _, refusal := r.Ask([]limits.Subject{rated(t, fmt.Sprint("other:", i), "1/min")}); refusal == nil {
			admitted++
		}
	}
	if known := sqlite.Known(r); known != 64 || admitted != 2*(known+1) {
		t.Errorf("%d names have windows of their own, %d requests admitted", known, admitted)
	}
}

// Several subjects of a call that share windows do not block each other.
func TestManyNamesBeyondMemoryInOneCall(t *testing.T) {
	r := rates(t, time.Now)
	sqlite.LimitRateSubjects(r, 0)
	var subjects []limits.Subject
	for i := range limits.MaxSubjects + 3 {
		subjects = append(subjects, rated(t, fmt.Sprint("x", i), "100/h"))
	}
	for range 3 {
		if _, refusal := r.Ask(subjects); refusal != nil {
			t.Fatalf("%+v", refusal)
		}
	}
}

func TestConcurrentCallsGetExactlyTheLimit(t *testing.T) {
	r := rates(t, time.Now)
	everybody := rated(t, "gateway", "100/day")
	var admitted atomic.Int64
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			own := rated(t, fmt.Sprint("key:", i%7), "1k/day", "10k tokens/h")
			subjects := []limits.Subject{own, everybody}
			if i%2 == 0 {
				subjects = []limits.Subject{everybody, own}
			}
			if _, refusal := r.Ask(subjects); refusal == nil {
				admitted.Add(1)
			}
			if _, g, refusal := r.Take(10, subjects); refusal == nil {
				g.Adjust(int64(i % 10))
			}
		})
	}
	wg.Wait()
	if admitted.Load() != 100 {
		t.Errorf("%d admitted", admitted.Load())
	}
}
