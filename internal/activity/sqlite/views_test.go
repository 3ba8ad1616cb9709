package sqlite_test

import (
	"database/sql"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
)

func TestAnOperatorReadsViewsOfSQLite(t *testing.T) {
	st, log := open(t, store.Options{})
	records, want, sums := activitytest.ViewedRecords()
	for _, r := range records {
		log.Append(r)
	}
	if err := st.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := st.Reader().QueryContext(t.Context(), activitytest.Viewed)
	if err != nil {
		t.Fatal(err)
	}
	activitytest.WantViews(t, want, sums, func(line *string) bool { return rows.Next() && rows.Scan(line) == nil }, func(query string, got []any) error {
		return st.Reader().QueryRowContext(t.Context(), query).Scan(got...)
	})
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
	var at, day string
	err = st.Reader().QueryRow("SELECT max(created_at), (SELECT max(day) FROM gatehouse_days) FROM gatehouse_calls").Scan(&at, &day)
	if err != nil || at != "2026-05-04T12:39:00.123Z" || day != "2026-05-04" {
		t.Errorf("%s, %s, %v", at, day, err)
	}
	var damaged sql.NullInt64
	execute(t, st, "UPDATE activity SET data = x'010080'")
	if err := st.Reader().QueryRow("SELECT max(status) FROM gatehouse_calls").Scan(&damaged); err != nil || damaged.Valid {
		t.Errorf("damaged rows have %v, %v", damaged, err)
	}
}
