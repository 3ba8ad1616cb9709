package activity

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// FuzzCursor: a cursor has one text; everything else is ErrBadCursor.
func FuzzCursor(f *testing.F) {
	f.Add(cursor{1777852800123456789, "gen-1"}.String())
	f.Add(cursor{}.String())
	f.Add("")
	f.Add("AQAAAAAAAAAA\n")
	f.Add("AQ==")
	f.Add(strings.Repeat("A", 500))
	f.Fuzz(func(t *testing.T, s string) {
		c, err := parseCursor(s)
		if err != nil {
			if !errors.Is(err, ErrBadCursor) {
				t.Fatal(err)
			}
			return
		}
		if c.created < 0 || len(c.id) > maxText || c.String() != s {
			t.Fatalf("%q became %+v, which is %q", s, c, c.String())
		}
	})
}

func TestCursorRoundTrip(t *testing.T) {
	for _, c := range []cursor{{0, ""}, {1<<63 - 1, strings.Repeat("x", maxText)}, {1, "\x00\xff"}} {
		s := c.String()
		if got, err := parseCursor(s); err != nil || got != c || strings.ContainsAny(s, "+/=&%") {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
	}
}

// TestQueriesDoNotScan holds the plans: no question walks the table, none but Daily sorts.
func TestQueriesDoNotScan(t *testing.T) {
	st, err := store.Open(t.TempDir(), store.Options{Schemas: []store.Schema{Schema}})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	at := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	page := func(f Filter) (string, []any) {
		f.Tenant = "default"
		source, args := f.source()
		return "SELECT " + columns + " FROM " + source + " AND (created_at, id) < (1, 'x') ORDER BY created_at DESC, id DESC LIMIT 10", args
	}
	for name, tt := range map[string]struct {
		filter     Filter
		sql, index string
	}{
		"tenant":        {index: "activity_time (tenant=? AND (created_at,id)<(?,?)"},
		"time":          {filter: Filter{From: at, To: at, Model: "m", Key: "k", Status: 200}, index: "activity_time (tenant=? AND created_at>?"},
		"request id":    {filter: Filter{RequestID: "r", Date: "2026-05-04"}, index: "activity_request"},
		"find id":       {sql: finders[0], index: "activity_id"},
		"find request":  {sql: finders[1], index: "activity_request"},
		"find upstream": {sql: finders[2], index: "activity_upstream"},
	} {
		t.Run(name, func(t *testing.T) {
			query, args := tt.sql, []any{int64(1), "id", "default"}
			if query == "" {
				query, args = page(tt.filter)
			}
			rows, err := st.Reader().Query("EXPLAIN QUERY PLAN "+query, args...)
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
				if strings.HasPrefix(detail, "SCAN activity") || strings.HasPrefix(detail, "SCAN a ") || detail == "SCAN a" {
					t.Errorf("scans: %s", detail)
				}
				if strings.Contains(detail, "TEMP B-TREE") && tt.filter.RequestID == "" {
					t.Errorf("sorts: %s", detail)
				}
			}
			if whole := strings.Join(plan, "\n"); !strings.Contains(whole, "INDEX "+tt.index) {
				t.Errorf("no %q in:\n%s", tt.index, whole)
			}
		})
	}
}

func BenchmarkFind(b *testing.B) {
	st, err := store.Open(b.TempDir(), store.Options{Schemas: []store.Schema{Schema}, QueueLimit: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	log := New(st)
	const rows = 200_000
	for i := range rows {
		id := fmt.Sprint(i)
		log.Append(&Record{ID: "gen-" + id, RequestID: "req-" + id, UpstreamID: "up-" + id, Tenant: "default", CreatedAt: time.Unix(int64(i), 0)})
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
