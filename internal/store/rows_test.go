package store_test

import (
	"context"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

func TestRowsYieldsRowsAndThenTheError(t *testing.T) {
	st, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n"
	var read []int
	for rows, err := range store.Rows(t.Context(), st, numbers, 3) {
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		if read = append(read, n); n == 2 {
			break
		}
	}
	if len(read) != 2 {
		t.Errorf("read %v", read)
	}
	if open := st.Reader().Stats().InUse; open != 0 {
		t.Errorf("%d connections are in use after a break", open)
	}
	for _, query := range []string{"SELECT nothing FROM nowhere", "SELECT abs(-9223372036854775808)"} {
		var last error
		for _, last = range store.Rows(t.Context(), st, query) {
		}
		if last == nil {
			t.Errorf("%s: no error", query)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range store.Rows(gone, st, numbers, 3) {
		if err == nil {
			t.Error("a row after the caller has left")
		}
	}
}
