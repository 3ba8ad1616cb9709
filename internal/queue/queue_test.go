package queue_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/queue"
)

func filled(t *testing.T, n int) *queue.Queue[int] {
	t.Helper()
	q := queue.New[int]()
	for i := range n {
		var number uint64
		if err := q.Add(i, 1, math.MaxInt, func(n uint64) { number = n }); err != nil || number != uint64(i+1) {
			t.Fatalf("item %d has number %d: %v", i, number, err)
		}
	}
	return q
}

func signalled(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestItemsAreTakenInOrder(t *testing.T) {
	q := filled(t, queue.Group-1)
	if !signalled(q.First) || signalled(q.Urgent) {
		t.Error("less than a group is urgent, or the first item is not told")
	}
	_ = q.Add(queue.Group-1, 1, math.MaxInt, nil)
	if signalled(q.First) || !signalled(q.Urgent) {
		t.Error("a group is not urgent")
	}
	some, last := q.Take(2, nil)
	rest, end := q.Take(math.MaxInt, make([]int, 0, 8))
	if len(some) != 2 || some[1] != 1 || last != 2 || len(rest) != queue.Group-2 || rest[0] != 2 || end != queue.Group {
		t.Errorf("%v up to %d, %d items up to %d", some, last, len(rest), end)
	}
}

func TestAFlushEndsWithItsItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := filled(t, 3)
		done := make(chan error, 3)
		flush := func() { done <- q.Flush(t.Context()) }
		go flush()
		synctest.Wait()
		if q.Patience() != 0 || !signalled(q.Urgent) {
			t.Error("items that somebody waits for wait for others")
		}
		began := time.Now()
		<-time.After(time.Millisecond)
		q.Take(2, nil)
		q.Settle(2)
		synctest.Wait()
		if len(done) > 0 || !signalled(q.Urgent) || !q.Status().Oldest.Equal(began) {
			t.Error("a flush ended before its last item, or the rest is not urgent")
		}
		q.Take(1, nil)
		if s := q.Status(); s.Items != 1 || !s.Oldest.Equal(began) {
			t.Errorf("%+v", s)
		}
		q.Settle(3)
		if s := q.Status(); s.Items != 0 || !s.Oldest.IsZero() {
			t.Errorf("%+v", s)
		}
		if err := <-done; err != nil || q.Flush(t.Context()) != nil {
			t.Error(err)
		}
		_ = q.Add(3, 1, math.MaxInt, nil)
		go flush()
		synctest.Wait()
		broken := errors.New("broken")
		if q.Fail(broken); !errors.Is(<-done, broken) {
			t.Error("a failed commit is not told")
		}
		q.Fail(broken) // nobody waits any more
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if q.Close(); !errors.Is(q.Flush(t.Context()), queue.ErrClosed) || !errors.Is(q.Add(4, 1, math.MaxInt, nil), queue.ErrClosed) {
			t.Error("a closed queue takes more")
		}
	})
}

func TestPatienceIsWhatIsLeftOfTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New[int]()
		if q.Patience() != queue.Idle {
			t.Error("nothing waits")
		}
		_ = q.Add(0, 1, math.MaxInt, nil)
		began := time.Now()
		<-time.After(20 * time.Millisecond)
		if s := q.Status(); q.Patience() != queue.Interval-20*time.Millisecond || !s.Oldest.Equal(began) || s.Items != 1 || s.Bytes != 1 {
			t.Errorf("%v, %+v", q.Patience(), s)
		}
	})
}

func TestRoomIsAwaitedAndDropsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, works := filled(t, 2), true
		work := func() bool { return works }
		if err := q.Add(2, 1, 2, nil); !errors.Is(err, queue.ErrFull) {
			t.Error(err)
		}
		began := time.Now()
		time.AfterFunc(30*time.Millisecond, func() { q.Release(1) })
		q.AwaitRoom(2, time.Second, work)
		if took := time.Since(began); took != 30*time.Millisecond || q.Add(2, 1, 2, nil) != nil {
			t.Errorf("waited %v", took)
		}
		q.AwaitRoom(2, time.Second, work)
		time.AfterFunc(0, q.Close)
		q.AwaitRoom(2, time.Second, work)
		works = false
		q.AwaitRoom(2, time.Second, work)
		if took := time.Since(began); took != 1030*time.Millisecond {
			t.Errorf("waited %v: as long as commits work, and no longer", took)
		}
		if !q.Drop(1) || q.Drop(2) || q.Status().Dropped != 3 {
			t.Error("a period of drops begins once")
		}
		_, _, ended := q.DropsEnded(false)
		count, lasted, again := q.DropsEnded(false)
		if _, _, over := q.DropsEnded(true); ended || !again || over || count != 3 || lasted != 0 || q.Status().Dropped != 3 {
			t.Errorf("%d dropped in %v: %v, %v, %v", count, lasted, ended, again, over)
		}
	})
}
