package sqlite_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Subjects are ordered from the most specific: of equal rates the first is reported.
func TestOfEqualRatesTheFirstIsReported(t *testing.T) {
	r := rates(t, (&clock{noon}).now)
	s := []limits.Subject{rated(t, "key:a", "2/min"), rated(t, "tenant:a", "2/min")}
	reading, refusal := r.Ask(s)
	if refusal != nil || reading.Subject != "key:a" || reading.Remaining != 1 || reading.Reset != 61*time.Second {
		t.Errorf("%+v, %+v", reading, refusal)
	}
	r.Ask(s)
	reading, refusal = r.Ask(s)
	if refusal == nil || refusal.Subject != "key:a" || reading.Subject != "key:a" {
		t.Errorf("%+v, %+v", reading, refusal)
	}
}

func TestALongNameSharesItsWindows(t *testing.T) {
	r := rates(t, (&clock{noon}).now)
	for length, want := range map[int]bool{512: false, 513: true} {
		for i := range 2 {
			name := strings.Repeat("x", length-1) + fmt.Sprint(i)
			if _, refusal := r.Ask([]limits.Subject{rated(t, name, "1/min")}); (refusal != nil) != (want && i == 1) {
				t.Errorf("name %d of %d bytes: %+v", i, length, refusal)
			}
		}
	}
}

// A full shard is swept at most once a second. Clients choose the names of models, so otherwise
// they could cause a sweep with every call.
func TestAFullTableIsSweptOnceASecond(t *testing.T) {
	c := &clock{noon}
	r := rates(t, c.now)
	sqlite.LimitRateSubjects(r, 1)
	admitted := func(group string) (n int) {
		for i := range 3000 {
			if _, refusal := r.Ask([]limits.Subject{rated(t, fmt.Sprint(group, i), "1/s")}); refusal == nil {
				n++
			}
		}
		return n
	}
	const shards, shared = 64, 1
	for _, step := range []struct {
		after time.Duration
		want  int
	}{
		{0, shards + shared},
		{1100 * time.Millisecond, shards + shared}, // the first are swept
		{time.Second, 0},                           // swept, but all still count
		{999 * time.Millisecond, shared},           // nothing counts any more, but it is too early to sweep
		{time.Millisecond, shards},
	} {
		c.at = c.at.Add(step.after)
		if got := admitted(c.at.String()); got != step.want {
			t.Errorf("%v after the beginning %d are admitted, want %d", c.at.Sub(noon), got, step.want)
		}
	}
}

func TestTheNameThatSweepsGetsWhatItFreed(t *testing.T) {
	c := &clock{noon}
	r := rates(t, c.now)
	sqlite.LimitRateSubjects(r, 1)
	names := []string{"a"}
	for i := 0; len(names) < 3; i++ {
		if name := fmt.Sprint("b", i); sqlite.SameShard(r, "a", name) {
			names = append(names, name)
		}
	}
	for i, words := range []string{"1/s", "1/h", "1/h"} {
		if i == 2 { // the shared windows are used up, and the first name's count has expired
			c.at = c.at.Add(2 * time.Second)
		}
		if _, refusal := r.Ask([]limits.Subject{rated(t, names[i], words)}); refusal != nil {
			t.Errorf("name %d: %+v", i, refusal)
		}
	}
}

// A call counts in the windows it found, or in new ones if they were swept meanwhile.
func TestACountIsNotLostWithSweptWindows(t *testing.T) {
	r := rates(t, (&clock{noon}).now)
	first, other := "a", "b"
	for sqlite.SameShard(r, first, other) {
		other += "b"
	}
	s := []limits.Subject{rated(t, first, "5/min"), rated(t, other, "5/min")}
	unlock := sqlite.LockSubject(r, first)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Ask(s) // waits for the lock of the first
	}()
	for sqlite.Known(r) < 2 {
		runtime.Gosched()
	}
	sqlite.Sweep(r, other)
	unlock()
	<-done
	for _, s := range s {
		if got := r.Look(limits.Requests, []limits.Subject{s}).Remaining; got != 4 {
			t.Errorf("%s: %d remain, want 4", s.Name, got)
		}
	}
}

func TestTheOldestSlotSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	c := &clock{noon}
	s := []limits.Subject{rated(t, "key:a", "10/h")}
	st := open(t, dir, store.Options{})
	stored(t, st, c.now).Ask(s)
	st.Close()
	c.at = noon.Add(61*time.Minute - 1)
	if got := stored(t, open(t, dir, store.Options{}), c.now).Look(limits.Requests, s); got.Remaining != 9 || got.Reset != 1 {
		t.Errorf("%+v", got)
	}
}
