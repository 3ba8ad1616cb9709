package postgres_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	postgresactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

var bigRows = flag.Int("rows", 3000, "the rows of TestQueriesOfManyRows, which are written without their sums")

// TestQueriesOfManyRows shows how long queries take: -args -rows 1000000.
func TestQueriesOfManyRows(t *testing.T) {
	n := newNode(t, enginetest.Postgres(t), "a", func(c *postgresactivity.Config) { c.Keep.Age = 30 * 24 * time.Hour })
	step := 30 * 24 * time.Hour / time.Duration(*bigRows)
	began := time.Now()
	_, err := n.db.Pool().CopyFrom(context.Background(), pgx.Identifier{"activity"}, []string{"tenant", "created_at", "seq", "request_h", "upstream_h", "data"},
		pgx.CopyFromSlice(*bigRows, func(i int) ([]any, error) {
			r := activitytest.Call(i)
			r.CreatedAt = noon.Add(-time.Duration(i) * step)
			r.Tenant = fmt.Sprint("tenant", i%3)
			r.Key = fmt.Sprint("key", i%50)
			if i%1000 == 0 {
				r.Status, r.Code, r.Model = 502, "upstream_error", "rare/model"
			}
			return postgresactivity.Columns(r), nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.db.Pool().Exec(context.Background(), "ANALYZE activity"); err != nil {
		t.Fatal(err)
	}
	var size int64
	if err := n.db.Pool().QueryRow(context.Background(), "SELECT sum(pg_total_relation_size(inhrelid))::bigint FROM pg_inherits WHERE inhparent = 'activity'::regclass").Scan(&size); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows by COPY in %v, %d bytes a row with indexes", *bigRows, time.Since(began), size/int64(*bigRows))
	rows, err := n.Rebuild(context.Background())
	if err != nil || rows != *bigRows {
		t.Fatalf("rebuilt from %d rows, %v", rows, err)
	}
	t.Logf("their sums in %v", time.Since(began))
	old := *bigRows - 2 - *bigRows%3
	tenant := fmt.Sprint("tenant", old%3)
	ask := func(f activity.Filter) func() error {
		return func() error {
			_, err := n.Query(context.Background(), f)
			return err
		}
	}
	for name, query := range map[string]func() error{
		"request id of a tenant": ask(activity.Filter{Tenant: tenant, RequestID: fmt.Sprint("req-", old)}),
		"request id of all":      ask(activity.Filter{AllTenants: true, RequestID: fmt.Sprint("req-", old)}),
		"find by upstream id": func() error {
			_, ok, err := n.Find(context.Background(), tenant, fmt.Sprint("chatcmpl-", old))
			if !ok {
				t.Error("not found")
			}
			return err
		},
		"find any": func() error {
			_, _, err := n.FindAny(context.Background(), fmt.Sprint("gen-", old))
			return err
		},
		"newest 100 of a tenant":           ask(activity.Filter{Tenant: "tenant1"}),
		"newest 100 of all":                ask(activity.Filter{AllTenants: true}),
		"newest 100 of a key":              ask(activity.Filter{Tenant: "tenant1", Key: "key7"}),
		"newest 100 of a rare model":       ask(activity.Filter{AllTenants: true, Model: "rare/model"}),
		"a model that nobody has, 30 days": ask(activity.Filter{AllTenants: true, Model: "none"}),
		"a status that nobody has":         ask(activity.Filter{Tenant: "tenant1", Status: 418}),
		"1,000 ms that nobody takes":       ask(activity.Filter{Tenant: "tenant1", MinLatency: time.Second}),
		"series of 30 days by key": func() error {
			s := activitytest.Series(t, n, "by=key&step=day")
			if s.All.Total.Requests == 0 {
				t.Error("no sums")
			}
			return nil
		},
		"series of 24 hours by model": func() error { activitytest.Series(t, n, "by=model&step=hour"); return nil },
		"daily sums": func() error {
			_, err := n.Daily(context.Background(), activity.Filter{AllTenants: true})
			return err
		},
	} {
		var took []time.Duration
		for range 5 {
			began := time.Now()
			if err := query(); err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			took = append(took, time.Since(began).Round(100*time.Microsecond))
		}
		slices.Sort(took)
		t.Logf("%-34s %v", name, took)
	}
}
