package inflight_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/inflight"
)

// reference counts what a Set does with its reference, of which it has one or none.
type reference struct {
	inflight.Set
	t        *testing.T
	held     atomic.Int32
	released atomic.Int32
	gone     bool
}

func newSet(t *testing.T) *reference {
	r := &reference{t: t}
	r.held.Store(1)
	r.Init(func() bool {
		if r.gone {
			return false
		}
		if n := r.held.Add(1); n != 1 {
			t.Errorf("acquired while %d are held", n-1)
		}
		return true
	}, func() {
		if n := r.held.Add(-1); n != 0 {
			t.Errorf("released, and %d are held", n)
		}
		r.released.Add(1)
	})
	return r
}

func (r *reference) want(entries int, released int32) {
	r.t.Helper()
	if n := r.Len(); n != entries || r.released.Load() != released {
		r.t.Errorf("%d entries, released %d times; want %d and %d", n, r.released.Load(), entries, released)
	}
}

func TestTheReferenceIsReleasedAfterCloseAndTheLastEntry(t *testing.T) {
	r := newSet(t)
	var first, second inflight.Entry
	r.Add(&first)
	r.Remove(&first)
	r.want(0, 0)
	r.Add(&first)
	r.Add(&second)
	r.want(2, 0)
	r.Close()
	r.Remove(&first)
	r.want(1, 0)
	r.Remove(&second)
	r.want(0, 1)
}

func TestAnEmptySetReleasesItsReferenceAtOnce(t *testing.T) {
	r := newSet(t)
	r.Close()
	r.want(0, 1)
}

func TestALateEntryAcquiresTheReferenceAgain(t *testing.T) {
	r := newSet(t)
	r.Close()
	var first, second inflight.Entry
	for n := range int32(2) {
		if !r.Add(&first) || !r.Add(&second) {
			t.Fatal("not added")
		}
		r.want(2, n+1)
		r.Remove(&first)
		r.Remove(&second)
		r.want(0, n+2)
	}
	r.gone = true
	if r.Add(&first) {
		t.Error("added, though the reference is gone")
	}
	r.want(0, 3)
}

var errStop = errors.New("stop")

func TestInterruptCancelsWhatIsListedAndWhatComes(t *testing.T) {
	r := newSet(t)
	var idle, running, late, later inflight.Entry
	if r.Interrupt(errStop) {
		t.Error("an empty set had an entry")
	}
	r = newSet(t)
	r.Add(&idle)
	r.Add(&running)
	r.Add(&late)
	ctx, cancel := context.WithCancelCause(t.Context())
	running.SetCancel(cancel)
	if !r.Interrupt(errStop) {
		t.Error("no entry was found")
	}
	if context.Cause(ctx) != errStop {
		t.Errorf("an entry was cancelled with %v", context.Cause(ctx))
	}
	r.Add(&later)
	for _, e := range []*inflight.Entry{&late, &later} {
		ctx, cancel := context.WithCancelCause(t.Context())
		e.SetCancel(cancel)
		if context.Cause(ctx) != errStop {
			t.Errorf("what can be cancelled only after the interrupt ended with %v", context.Cause(ctx))
		}
	}
}

func TestCancelEndsOnlyItsEntry(t *testing.T) {
	r := newSet(t)
	var first, second inflight.Entry
	r.Add(&first)
	r.Add(&second)
	first.Cancel(errStop) // nothing yet
	one, cancel := context.WithCancelCause(t.Context())
	first.SetCancel(cancel)
	two, cancel := context.WithCancelCause(t.Context())
	second.SetCancel(cancel)
	first.Cancel(errStop)
	if context.Cause(one) != errStop || two.Err() != nil {
		t.Errorf("the first ended with %v, the second with %v", context.Cause(one), two.Err())
	}
	second.Cancel(nil)
}

func TestEntriesThatComeAndGoAtOnceHoldTheReference(t *testing.T) {
	r := newSet(t)
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 2000 {
				var e inflight.Entry
				if !r.Add(&e) {
					t.Error("not added")
					return
				}
				if r.held.Load() != 1 {
					t.Error("an entry is listed without the reference")
				}
				r.Remove(&e)
				if worker == 0 && i == 500 {
					r.Close()
				}
			}
		})
	}
	all.Wait()
	if r.Len() != 0 || r.held.Load() != 0 {
		t.Errorf("%d entries and %d references are left", r.Len(), r.held.Load())
	}
}

func TestAnEntryCostsNoAllocation(t *testing.T) {
	r := newSet(t)
	var e inflight.Entry
	add := func() {
		r.Add(&e)
		r.Remove(&e)
	}
	if n := testing.AllocsPerRun(100, add); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
