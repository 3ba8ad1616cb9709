package sqlite_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// blockingOp blocks the store's writer until it is closed.
type blockingOp chan struct{}

func (blockingOp) Droppable() bool { return false }

func (s blockingOp) Apply(*store.Tx) error {
	<-s
	return nil
}

// A reservation whose caller has given up, because the disk hangs, reaches the disk late. It is
// removed from there, and from memory at once.
func TestAReservationThatLandsLateIsReleased(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st := open(t, dir, store.Options{CommitInterval: time.Millisecond})
		l, _ := openLedger(t, st)
		sqlite.ReplaceSink(l, &failingStore{Store: st, hangs: true})
		writer := make(blockingOp)
		if err := st.Submit(writer); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		key := budgeted(t, "key:a", "10usd/day")
		h, refusal, err := limits.Reserve(t.Context(), l, limits.ReserveRequest{Call: "1", At: noon, Most: limits.Amount{Nano: 5}, Subjects: []limits.Subject{key}, Durable: true, Timeout: 2 * time.Second})
		if h != nil || refusal != nil || !errors.Is(err, limits.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, %+v, %v", h, refusal, err)
		}
		balance(t, l, key, 0, 0)
		close(writer)
		if n := count(t, st, "SELECT count(*) FROM hold") + count(t, st, "SELECT count(*) FROM ledger"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
		balance(t, l, key, 0, 0)
	})
}

// A writer that waits, for a lock of another program for example, keeps no reservation waiting.
func TestADurableReservationDoesNotWaitForTheWriter(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{CommitInterval: time.Millisecond})
	l, _ := openLedger(t, st)
	writer := make(blockingOp)
	if err := st.Submit(writer); err != nil {
		t.Fatal(err)
	}
	key := budgeted(t, "key:a", "10usd/day")
	r := limits.ReserveRequest{Call: "1", At: noon, Most: limits.Amount{Nano: 5}, Subjects: []limits.Subject{key}, Durable: true}
	if refusal, err := l.Reserve(t.Context(), r); refusal != nil || err != nil {
		t.Errorf("%+v, %v", refusal, err)
	}
	close(writer)
	if n := count(t, st, "SELECT count(*) FROM hold"); n != 1 {
		t.Errorf("%d reservations on disk", n)
	}
}
