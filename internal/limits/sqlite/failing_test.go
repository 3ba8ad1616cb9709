package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// failingStore is a store whose errors a test sets.
type failingStore struct {
	*store.Store
	submit, record, health error
	hangs                  bool // no record is ever written
}

func (s *failingStore) Submit(op store.Op) error {
	if s.submit != nil {
		return s.submit
	}
	return s.Store.Submit(op)
}

// SubmitDurable queues the operation although its record cannot be written, as the store does.
func (s *failingStore) SubmitDurable(ctx context.Context, op store.Logged, timeout time.Duration) error {
	if err := s.Submit(op); err != nil {
		return err
	}
	if s.hangs {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(timeout):
			return context.DeadlineExceeded
		}
	}
	return s.record
}

func (s *failingStore) Health() error { return s.health }

var errDisk = errors.New("disk full")

func newFailingLedger(t *testing.T) (*sqlite.Ledger, *failingStore, *store.Store) {
	st := open(t, t.TempDir(), store.Options{CommitInterval: time.Hour})
	l, _ := openLedger(t, st)
	s := &failingStore{Store: st}
	sqlite.ReplaceSink(l, s)
	return l, s, st
}

func balance(t *testing.T, l limits.Ledger, s limits.Subject, spent, reserved int64) {
	t.Helper()
	b, err := l.Status(t.Context(), noon, []limits.Subject{s})
	if err != nil || b[0].Spent != spent || b[0].Reserved != reserved {
		t.Errorf("%+v, %v; want %d spent and %d reserved", b, err, spent, reserved)
	}
}

func TestDurableReservationNeedsTheStore(t *testing.T) {
	for name, fail := range map[string]func(*failingStore){
		"known to fail": func(s *failingStore) { s.health = errDisk },
		"record":        func(s *failingStore) { s.record = errDisk },
		"full":          func(s *failingStore) { s.submit = store.ErrFull },
		"closed":        func(s *failingStore) { s.submit = store.ErrClosed },
	} {
		t.Run(name, func(t *testing.T) {
			l, s, st := newFailingLedger(t)
			key := budgeted(t, "key:a", "10usd/day")
			r := limits.ReserveRequest{Call: "1", At: noon, Most: limits.Amount{Nano: 5}, Subjects: []limits.Subject{key}, Durable: true}
			fail(s)
			for range 2 {
				if refusal, err := l.Reserve(t.Context(), r); refusal != nil || !errors.Is(err, limits.ErrUnavailable) {
					t.Errorf("%+v, %v", refusal, err)
				}
				balance(t, l, key, 0, 0)
			}
			*s = failingStore{Store: st} // recovered: the same call may be tried again
			if refusal, err := l.Reserve(t.Context(), r); refusal != nil || err != nil {
				t.Errorf("%+v, %v", refusal, err)
			}
			if n := count(t, st, "SELECT count(*) FROM hold"); n != 1 {
				t.Errorf("%d holds on disk", n)
			}
		})
	}
}

func TestOtherReservationsContinueInMemory(t *testing.T) {
	l, s, st := newFailingLedger(t)
	key := budgeted(t, "key:a", "10 tokens/day")
	reserve := func(call string, n int64) *limits.Refusal {
		t.Helper()
		refusal, err := l.Reserve(t.Context(), limits.ReserveRequest{Call: call, At: noon, Most: limits.Amount{Tokens: n}, Subjects: []limits.Subject{key}})
		if err != nil {
			t.Fatal(err)
		}
		return refusal
	}
	settle := func(call string, n int64) {
		t.Helper()
		if err := l.Settle(t.Context(), call, limits.Amount{Tokens: n}); err != nil {
			t.Fatal(err)
		}
	}
	reserve("before", 3)
	s.health, s.record, s.submit = errDisk, errDisk, store.ErrFull
	if refusal := reserve("a", 4); refusal != nil {
		t.Errorf("%+v", refusal)
	}
	settle("before", 2)
	if refusal := reserve("b", 5); refusal == nil {
		t.Error("the budget does not hold without the store")
	}
	balance(t, l, key, 2, 4)
	for i := range 2 * sqlite.CoalesceFrom {
		call := fmt.Sprint(i)
		reserve(call, 1)
		settle(call, 0)
	}
	if n := sqlite.Backlog(l); n == 0 || n > sqlite.CoalesceFrom {
		t.Errorf("%d changes wait", n)
	}
	if err := l.Flush(t.Context()); !errors.Is(err, limits.ErrUnavailable) {
		t.Errorf("flushing: %v", err)
	}
	*s = failingStore{Store: st}
	settle("a", 1)
	if sqlite.Backlog(l) != 0 {
		t.Error("changes still wait")
	}
	if err := l.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	rows := ledgerRows(t, st)
	if len(rows) != 1 || rows[0].spent != 3 || count(t, st, "SELECT count(*) FROM hold") != 0 {
		t.Errorf("on disk: %+v", rows)
	}
}

func TestSettlingAClosedStoreIsReported(t *testing.T) {
	l, s, _ := newFailingLedger(t)
	key := budgeted(t, "key:a", "10 tokens/day")
	h, refusal, err := limits.Reserve(t.Context(), l, limits.ReserveRequest{Call: "1", At: noon, Most: limits.Amount{Tokens: 5}, Subjects: []limits.Subject{key}})
	if refusal != nil || err != nil {
		t.Fatal(refusal, err)
	}
	s.submit = store.ErrClosed
	if err := h.Settle(t.Context(), limits.Amount{Tokens: 4}); !errors.Is(err, limits.ErrUnavailable) || !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v", err)
	}
	balance(t, l, key, 4, 0)
	if err := h.Settle(t.Context(), limits.Amount{Tokens: 4}); err != nil {
		t.Errorf("again: %v", err)
	}
	balance(t, l, key, 4, 0)
}

func TestLedgerOfAClosedStoreCannotBeOpened(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{})
	st.Close()
	if _, _, err := sqlite.OpenLedger(t.Context(), st); err == nil {
		t.Error("no error")
	}
}

func TestDamagedRowsAreReported(t *testing.T) {
	for _, row := range []string{"'a', 'usd/year', '2026-01-01'", "'a', 'usd/day', 'today'", "'a', 'usd/week', '2026-05-13'", "'a', 'usd/total', '2026-05-13'"} {
		st := open(t, t.TempDir(), store.Options{})
		if err := st.Submit(statement("INSERT INTO ledger VALUES (" + row + ", 1, 1)")); err != nil {
			t.Fatal(err)
		}
		if _, _, err := sqlite.OpenLedger(t.Context(), st); err == nil {
			t.Errorf("%s: no error", row)
		}
	}
}

// statement is an operation that executes SQL.
type statement string

func (statement) Droppable() bool { return false }

func (s statement) Apply(tx *store.Tx) error {
	_, err := tx.Exec(string(s))
	return err
}
