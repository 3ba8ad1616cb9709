package sqlite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// TestQueriesDoNotScan checks the query plans: none scans the table, none sorts.
func TestQueriesDoNotScan(t *testing.T) {
	st, err := store.Open(t.TempDir(), store.Options{Schemas: []store.Schema{Schema}})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	at := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	page := func(f activity.Filter, others ...string) string {
		f.Tenant = "default"
		query, args := rowsQuery(&f, append([]string{"default"}, others...))
		for _, arg := range args { // as literals: then the planner sees the values
			switch v := arg.(type) {
			case string:
				arg = "'" + v + "'"
			case []byte:
				arg = fmt.Sprintf("x'%x'", v)
			}
			query = strings.Replace(query, "?", fmt.Sprint(arg), 1)
		}
		return query
	}
	for name, tt := range map[string]struct{ query, plan string }{
		"tenant":      {page(activity.Filter{}), "SEARCH activity USING INDEX activity_time (tenant=?)"},
		"next page":   {page(activity.Filter{Cursor: activity.Cursor{Created: 1, Seq: 1}.String()}), "SEARCH activity USING INDEX activity_time (tenant=? AND created_at<?)"},
		"time":        {page(activity.Filter{From: at, To: at, Model: "m", Key: "k", Status: 418}), "SEARCH activity USING INDEX activity_time (tenant=? AND created_at>? AND created_at<?)"},
		"time's page": {page(activity.Filter{Date: "2026-05-04", Cursor: activity.Cursor{Created: 1, Seq: 1}.String()}), "SEARCH activity USING INDEX activity_time (tenant=? AND created_at>?"},
		"two tenants": {page(activity.Filter{From: at}, "other"), "MERGE (UNION ALL)"},
		"last row":    {lastSeq, "SEARCH activity"},
		"ids":         {nextBlock, "SEARCH activity_ids USING INTEGER PRIMARY KEY (rowid<?)"},
		"newest ids":  {newestRows, "SEARCH activity USING INTEGER PRIMARY KEY (rowid>?)"},
		"a block":     {blockData, "SEARCH activity USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
		"row of id":   {rowAt, "SEARCH activity USING INTEGER PRIMARY KEY (rowid=?)"},
		"old rows":    {oldRows, "SEARCH activity USING COVERING INDEX activity_time (tenant=? AND created_at<?)"},
		"tenants":     {nextTenant, "SEARCH activity USING COVERING INDEX activity_time (tenant>?)"},
		"empty block": {dropBlock, "SEARCH activity USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := st.Reader().Query("EXPLAIN QUERY PLAN "+tt.query, make([]any, strings.Count(tt.query, "?"))...)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			var plan []string
			for rows.Next() {
				var id, parent, unused int
				var detail string
				if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
					t.Fatal(err)
				}
				plan = append(plan, detail)
				if strings.HasPrefix(detail, "SCAN activity") || strings.Contains(detail, "TEMP B-TREE") {
					t.Errorf("scans or sorts: %s", detail)
				}
			}
			if whole := strings.Join(plan, "\n"); !strings.Contains(whole, tt.plan) {
				t.Errorf("no %q in:\n%s", tt.plan, whole)
			}
		})
	}
}

func BenchmarkFind(b *testing.B) {
	st, err := store.Open(b.TempDir(), store.Options{Schemas: []store.Schema{Schema}, QueueBytes: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	log := New(st)
	const rows = 200_000
	for i := range rows {
		id := fmt.Sprint(i)
		log.Append(&activity.Record{ID: "gen-" + id, RequestID: "req-" + id, UpstreamID: "up-" + id, Tenant: "default", CreatedAt: time.Unix(int64(i), 0)})
	}
	if err := st.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	for name, id := range map[string]string{"newest": fmt.Sprintf("gen-%d", rows-1), "oldest": "gen-0", "missing": "x"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, ok, err := log.Find(b.Context(), "default", id); err != nil || ok != (id != "x") {
					b.Fatal(ok, err)
				}
			}
		})
	}
}
