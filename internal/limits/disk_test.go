package limits_test

import (
	"maps"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// sameOnDisk compares all periods, past ones too.
func sameOnDisk(t *testing.T, st *store.Store, want map[account]int64) {
	t.Helper()
	if n := count(t, st, "SELECT count(*) FROM hold"); n != 0 {
		t.Errorf("%d holds are left", n)
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
