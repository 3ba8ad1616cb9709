package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// ops keeps what is submitted, unless it fails.
type ops struct {
	sqlite.Sink
	fail error
	all  []store.Op
}

func (o *ops) Submit(op store.Op) error {
	if o.fail == nil {
		o.all = append(o.all, op)
	}
	return o.fail
}

// observed returns a ledger and rates that write to ops.
func observed(t *testing.T) (*sqlite.Ledger, *sqlite.Rates, *ops) {
	t.Helper()
	st := open(t, t.TempDir(), store.Options{})
	l, _ := openLedger(t, st)
	r := stored(t, st, (&clock{noon}).now)
	taken := &ops{Sink: st}
	sqlite.ReplaceSink(l, taken)
	sqlite.ReplaceRatesSink(r, taken)
	return l, r, taken
}

func reserveTokens(t *testing.T, l limits.Ledger, call string, n int64) error {
	t.Helper()
	_, err := l.Reserve(t.Context(), limits.ReserveRequest{
		Call: call, At: noon, Most: limits.Amount{Tokens: n}, Subjects: []limits.Subject{budgeted(t, "key:a", "100 tokens/day")},
	})
	return err
}

func settleTokens(t *testing.T, l limits.Ledger, call string, n int64) {
	t.Helper()
	if err := l.Settle(t.Context(), call, limits.Amount{Tokens: n}); err != nil {
		t.Fatal(err)
	}
}

func TestNoChangeIsGivenUpWhenTheStoreIsFull(t *testing.T) {
	l, r, taken := observed(t)
	if err := reserveTokens(t, l, "1", 5); err != nil {
		t.Fatal(err)
	}
	settleTokens(t, l, "1", 4)
	r.Ask([]limits.Subject{rated(t, "key:a", "10/h")})
	if len(taken.all) != 3 {
		t.Errorf("%d changes, want 3", len(taken.all))
	}
	for _, op := range taken.all {
		if op.Droppable() {
			t.Errorf("%T may be dropped", op)
		}
	}
}

func TestLookingAtARateWritesNothing(t *testing.T) {
	_, r, taken := observed(t)
	s := []limits.Subject{rated(t, "key:a", "10/h", "10 tokens/day")}
	r.Look(limits.Requests, s)
	if _, g, _ := r.Take(0, s); len(taken.all) != 0 {
		t.Errorf("%d changes", len(taken.all))
	} else {
		g.Adjust(0)
	}
	if len(taken.all) != 0 {
		t.Errorf("%d changes after a correction by nothing", len(taken.all))
	}
}

func TestWhatWaitedForAFullStoreIsWrittenFirst(t *testing.T) {
	l, _, taken := observed(t)
	if err := reserveTokens(t, l, "before", 1); err != nil {
		t.Fatal(err)
	}
	began := taken.all
	taken.fail, taken.all = store.ErrFull, nil
	settleTokens(t, l, "before", 1) // gives back its reservation
	if n := sqlite.Backlog(l); n != 1 {
		t.Fatalf("%d changes wait", n)
	}
	taken.fail = nil
	if err := reserveTokens(t, l, "after", 1); err != nil {
		t.Fatal(err)
	}
	if sqlite.Backlog(l) != 0 || sqlite.Behind(l) || len(taken.all) != 2 || len(began) != 1 {
		t.Errorf("%d changes wait, %d are written", sqlite.Backlog(l), len(taken.all))
	}
	st := open(t, t.TempDir(), store.Options{})
	for i, want := range []int{1, 0, 1} {
		if err := st.Submit(slices.Concat(began, taken.all)[i]); err != nil {
			t.Fatal(err)
		}
		if n := count(t, st, "SELECT count(*) FROM hold"); n != want {
			t.Errorf("after change %d: %d holds, want %d", i, n, want)
		}
	}
}

func TestAChangeIsWrittenAsAWholeOrNotAtAll(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{})
	l, _ := openLedger(t, st)
	if err := reserveTokens(t, l, "1", 5); err != nil {
		t.Fatal(err)
	}
	if n := count(t, st, "SELECT count(*) FROM hold"); n != 1 {
		t.Fatalf("%d holds", n)
	}
	if err := st.Submit(statement("DROP TABLE hold")); err != nil {
		t.Fatal(err)
	}
	settleTokens(t, l, "1", 4)
	if n := count(t, st, "SELECT count(*) FROM ledger"); n != 0 {
		t.Errorf("%d rows are written of a call that cannot be closed", n)
	}
}

func TestASubjectThatDoesNotFitIsRefused(t *testing.T) {
	l, _ := openLedger(t, open(t, t.TempDir(), store.Options{}))
	sqlite.LimitLedgerSubjects(l, 0)
	if err := reserveTokens(t, l, "1", 5); !errors.Is(err, limits.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestACallTooManyIsRefused(t *testing.T) {
	l, _ := openLedger(t, open(t, t.TempDir(), store.Options{}))
	sqlite.FillCalls(l, "new")
	if err := reserveTokens(t, l, "new", 5); !errors.Is(err, limits.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestARowCountsTheCallsInIt(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{CommitInterval: time.Hour})
	l, _ := openLedger(t, st)
	for i := range 3 { // written as one
		call := fmt.Sprint(i)
		if err := reserveTokens(t, l, call, 5); err != nil {
			t.Fatal(err)
		}
		settleTokens(t, l, call, 4)
	}
	if n := count(t, st, "SELECT version FROM ledger"); n != 3 {
		t.Errorf("version %d, want 3", n)
	}
}

// A start that cannot write must not report calls that it has not charged.
func TestAStartThatCannotWriteChargesLaterAndOnce(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir, store.Options{CommitInterval: time.Millisecond})
	if err := st.Submit(statement("INSERT INTO hold VALUES ('call', 'key:a', 'tokens/day', '2026-05-13', 5, 0)")); err != nil {
		t.Fatal(err)
	}
	if err := st.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if l, _, err := sqlite.OpenLedger(ctx, st); l != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %v", l, err)
	}
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	l, _ := openLedger(t, st)
	balance(t, l, budgeted(t, "key:a", "100 tokens/day"), 5, 0)
}

func TestADamagedCountGivesNothingBack(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{CommitInterval: time.Millisecond})
	slot := noon.Unix() / 60 // of an hour
	for i, n := range []int{-2, 5, -3} {
		at := slot - 1 + int64(i)
		if err := st.Submit(statement(fmt.Sprintf("INSERT INTO rate VALUES ('key:a', 'requests', 'h', %d, %d, 0)", at, n))); err != nil {
			t.Fatal(err)
		}
	}
	if got := stored(t, st, (&clock{noon}).now).Look(limits.Requests, []limits.Subject{rated(t, "key:a", "10/h")}); got.Remaining != 5 {
		t.Errorf("%+v", got)
	}
}
