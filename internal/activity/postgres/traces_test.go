package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	postgresactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// The step that adds the index reads no row of a day that is there. What was written before is found, too.
func TestARunIsFoundByAnIndexOnceThereIsOne(t *testing.T) {
	dsn := enginetest.Postgres(t)
	trace := strings.Repeat("ab", 16)
	call := func(n int, at time.Time) *activity.Record {
		r := activitytest.Call(n)
		if r.CreatedAt = at.UTC(); n%2 == 0 {
			r.TraceID = trace
		}
		return r
	}
	n := newNode(t, dsn, "a", func(c *postgresactivity.Config) { c.Now = nil })
	exec := func(query string) {
		t.Helper()
		if _, err := n.db.Pool().Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		n.Append(call(i, time.Now()))
	}
	flush(t, n)
	// As the layout before was: days of rows without the column.
	exec("ALTER TABLE activity DROP COLUMN trace_h; UPDATE gatehouse_schema SET version = version - 1 WHERE name = 'activity'")
	if err := n.db.Migrate(t.Context(), postgresactivity.Schema); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		n.Append(call(4+i, time.Now().AddDate(0, 0, 1)))
	}
	flush(t, n)
	var found []string
	for _, r := range activitytest.All(t, n, activity.Filter{AllTenants: true, TraceID: trace}) {
		found = append(found, r.RequestID)
	}
	if got := strings.Join(found, " "); got != "req-6 req-4 req-2 req-0" {
		t.Errorf("found %s", got)
	}
	tomorrow := "activity_d" + time.Now().UTC().AddDate(0, 0, 1).Format("20060102")
	exec("ANALYZE activity")
	tx, err := n.db.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	plan := ""
	for _, query := range []string{"SET LOCAL enable_seqscan = off", "SET LOCAL enable_indexscan = off", "EXPLAIN SELECT data FROM " + tomorrow + " WHERE trace_h = 7 OR trace_h IS NULL"} {
		rows, err := tx.Query(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			plan += line + "\n"
		}
		rows.Close()
	}
	if !strings.Contains(plan, tomorrow+"_trace") {
		t.Errorf("the plan of a day that came after the step:\n%s", plan)
	}
	// A day that is made from now on gets the index with its table.
	var without int
	if err := n.db.Pool().QueryRow(t.Context(), `SELECT count(*) FROM pg_inherits WHERE inhparent = 'activity'::regclass
		AND NOT EXISTS (SELECT FROM pg_index JOIN pg_attribute a ON a.attrelid = indrelid AND a.attnum = ANY(indkey) WHERE indrelid = inhrelid AND attname = 'trace_h')`).Scan(&without); err != nil {
		t.Fatal(err)
	}
	if without == 0 {
		t.Error("the step has made an index of a day that has rows")
	}
	fresh := newNode(t, enginetest.Postgres(t), "b", func(c *postgresactivity.Config) { c.Now = nil })
	fresh.Append(call(0, time.Now()))
	flush(t, fresh)
	var indexes int
	if err := fresh.db.Pool().QueryRow(t.Context(), "SELECT count(*) FROM pg_indexes WHERE tablename = 'activity_d'||to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD') AND indexdef LIKE '%(trace_h)'").Scan(&indexes); err != nil || indexes != 1 {
		t.Errorf("%d indexes of traces of a day that was made after the step, %v", indexes, err)
	}
}
