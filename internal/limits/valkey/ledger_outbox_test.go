package valkey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func pause(ctx context.Context, _ error, d time.Duration) error { return wait(ctx, d) }

// A message goes on being sent under its number until it is answered, and settlements keep their order.
func TestSettlementsAreSentUntilTheyAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		attempts := 0
		o := newOutbox(func(_ context.Context, number uint64, batch []*call) error {
			if attempts++; attempts%3 != 0 {
				return errors.New("no answer")
			}
			for _, c := range batch {
				sent = append(sent, c.id)
			}
			if len(batch) > batchSize || number != uint64(attempts/3) {
				t.Errorf("attempt %d has number %d and %d settlements", attempts, number, len(batch))
			}
			return nil
		}, pause)
		defer o.close()
		var want []string
		for i := range 3*batchSize + 1 {
			c := &call{id: fmt.Sprint(i)}
			want = append(want, c.id)
			o.add(c)
		}
		if err := o.flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sent, want) {
			t.Errorf("sent %v", sent)
		}
	})
}

// Without an engine settlements wait. When there are too many, no more calls should begin, but those
// under way still hand over theirs at once, and none is lost.
func TestAFullOutboxSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		away.Store(true)
		answered := 0
		o := newOutbox(func(_ context.Context, _ uint64, batch []*call) error {
			if away.Load() {
				return errors.New("away")
			}
			answered += len(batch)
			return nil
		}, pause)
		defer o.close()
		o.most = 10 * batchSize
		for range o.most - 1 {
			o.add(&call{})
		}
		before := o.full()
		o.add(&call{})
		if before || !o.full() {
			t.Errorf("full: %v, then %v", before, o.full())
		}
		l := Ledger{outbox: o}
		if _, err := l.Reserve(t.Context(), limits.ReserveRequest{Call: "soft", At: time.Now()}); !errors.Is(err, limits.ErrFull) {
			t.Errorf("a call that would never be charged: %v", err)
		}
		o.add(&call{})
		short, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := o.flush(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("flush: %v", err)
		}
		away.Store(false)
		if err := o.flush(t.Context()); err != nil || answered != o.most+1 || o.full() {
			t.Errorf("%v, %d answered", err, answered)
		}
	})
}
