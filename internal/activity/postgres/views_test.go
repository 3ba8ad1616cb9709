package postgres_test

import (
	"context"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

func TestAnOperatorReadsViewsOfPostgreSQL(t *testing.T) {
	server := enginetest.Postgres(t)
	n := newNode(t, server, "a")
	records, want, sums := activitytest.ViewedRecords()
	for _, r := range records {
		n.Append(r)
	}
	flush(t, n)
	pool := n.db.Pool()
	rows, err := pool.Query(t.Context(), activitytest.Viewed)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	activitytest.WantViews(t, want, sums, func(line *string) bool {
		if len(lines) == 0 {
			return false
		}
		*line, lines = lines[0], lines[1:]
		return true
	}, func(query string, got []any) error { return pool.QueryRow(context.Background(), query).Scan(got...) })
}
