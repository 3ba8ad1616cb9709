package sqlite_test

import (
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// sameOnDisk compares all periods, including past ones.
func sameOnDisk(t *testing.T, st *store.Store, want map[account]int64) {
	t.Helper()
	if n := count(t, st, "SELECT count(*) FROM hold"); n != 0 {
		t.Errorf("%d reservations are left", n)
	}
	got := map[account]int64{}
	for _, row := range ledgerRows(t, st) {
		got[row.account] = row.spent
	}
	maps.DeleteFunc(want, func(_ account, spent int64) bool { return spent == 0 })
	maps.DeleteFunc(got, func(_ account, spent int64) bool { return spent == 0 })
	if !maps.Equal(got, want) {
		t.Errorf("on disk %v\nwant %v", got, want)
	}
}

type ledgerRow struct {
	account
	spent int64
}

func ledgerRows(t *testing.T, st *store.Store) (all []ledgerRow) {
	t.Helper()
	if err := st.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := st.Reader().Query("SELECT subject, budget, period, spent FROM ledger ORDER BY subject, budget, period")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var row ledgerRow
		var period string
		if err := rows.Scan(&row.subject, &row.budget, &period, &row.spent); err != nil {
			t.Fatal(err)
		}
		if period != "all" {
			if row.begins, err = time.Parse(time.DateOnly, period); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// A clock that was far ahead has begun a future period, and no period goes back, not even after a
// restart. docs/limits.md tells operators to delete such rows.
func TestFuturePeriodsCanBeForgotten(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir, store.Options{})
	l, _ := openLedger(t, st)
	key := budgeted(t, "key:a", "10 tokens/day", "1k tokens/month", "1k tokens/total")
	for i, at := range []time.Time{noon, noon.AddDate(7000, 0, 0)} {
		r := limits.ReserveRequest{Call: strconv.Itoa(i), At: at, Most: limits.Amount{Tokens: 9}, Subjects: []limits.Subject{key}}
		h, refusal, err := limits.Reserve(t.Context(), l, r)
		if refusal != nil || err != nil {
			t.Fatal(refusal, err)
		}
		if err := h.Settle(t.Context(), limits.Amount{Tokens: 9}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{7000, 0} {
		st.Close()
		st = reopen(t, dir)
		l, _ = openLedger(t, st)
		b, err := l.Status(t.Context(), noon, []limits.Subject{key})
		if err != nil || b[0].Begins.Year() != noon.Year()+want || b[0].Spent != 9 || b[1].Begins.Year() != noon.Year()+want || b[2].Spent != 18 {
			t.Errorf("%+v, %v", b, err)
		}
		if err := st.Submit(statement("DELETE FROM ledger WHERE period > '" + noon.Format(time.DateOnly) + "' AND period <> 'all'")); err != nil {
			t.Fatal(err)
		}
	}
}
