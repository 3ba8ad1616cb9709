package gateway

import (
	"context"
	"errors"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/inflight"
)

func newGeneration(s *generations) *generation {
	gen := &generation{calls: new(inflight.Set)}
	gen.calls.Init(func() bool { s.acquire(gen); return true }, func() { s.release(gen) })
	s.acquire(gen)
	return gen
}

func TestTheNewestGenerationThatIsNotRetiredIsCurrent(t *testing.T) {
	var s generations
	first, second, failed := newGeneration(&s), newGeneration(&s), newGeneration(&s)
	want := func(when string, current *generation, several bool) {
		t.Helper()
		if s.current() != current || s.several() != several {
			t.Errorf("%s: another generation is current, or several is %v", when, s.several())
		}
	}
	want("before a start", nil, false)
	s.start(first)
	want("after the first start", first, false)
	s.retire(failed)
	want("after the end of one that has not started", first, false)
	s.start(second)
	want("after a reload", second, true)
	s.retire(second)
	want("after a roll-back", first, false)
	s.start(second)
	s.retire(first)
	want("after the older one is retired", second, false)
	s.retire(second)
	want("at the end", nil, false)
}

func TestCallsOfRetiredGenerationsAreCountedAndInterrupted(t *testing.T) {
	var s generations
	older, newer := newGeneration(&s), newGeneration(&s)
	var first, second, late inflight.Entry
	older.calls.Add(&first)
	newer.calls.Add(&second)
	older.calls.Close()
	if n := s.inFlight(); n != 2 {
		t.Errorf("%d calls under way, want 2", n)
	}
	older.calls.Remove(&first)
	if n := s.inFlight(); n != 1 || len(s.holders()) != 1 {
		t.Errorf("%d calls of %d generations, want 1 of 1", n, len(s.holders()))
	}
	older.calls.Add(&late)
	if n := s.inFlight(); n != 2 {
		t.Errorf("%d calls under way, want the late one too", n)
	}
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	late.SetCancel(cancel)
	if !s.interrupt(stop) || context.Cause(ctx) != stop {
		t.Errorf("the late call was cancelled with %v", context.Cause(ctx))
	}
	older.calls.Remove(&late)
	newer.calls.Remove(&second)
	if s.interrupt(stop) {
		t.Error("without calls, one was interrupted")
	}
}

func TestAnInterruptFindsTheCallOfAnyGeneration(t *testing.T) {
	var s generations
	for range 8 {
		newGeneration(&s)
	}
	var entry inflight.Entry
	busy := newGeneration(&s)
	busy.calls.Add(&entry)
	for range 8 { // generations come in any order
		if !s.interrupt(errors.New("stop")) {
			t.Fatal("the call was not found")
		}
	}
}

// The end of a call releases its generation, so it must not run with the lock held.
func TestAnInterruptedCallMayEndAtOnce(t *testing.T) {
	var s generations
	gen := newGeneration(&s)
	gen.calls.Close()
	late := make([]inflight.Entry, 2)
	gen.calls.Add(&late[0])
	gen.calls.Add(&late[1])
	late[0].SetCancel(func(error) { gen.calls.Remove(&late[1]) }) // of another shard
	s.interrupt(errors.New("stop"))
	gen.calls.Remove(&late[0])
	if n := len(s.holders()); n != 0 {
		t.Errorf("%d generations hold a reference", n)
	}
}
