//go:build unix

package sqlite_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
)

// BenchmarkCommitted measures the cost of a record, appended and committed in groups.
func BenchmarkCommitted(b *testing.B) {
	for _, group := range []int{1, 50, 500} {
		b.Run(fmt.Sprint("group=", group), func(b *testing.B) {
			st, log := open(b, store.Options{CommitInterval: time.Hour})
			activitytest.Committed(b, group, log, st.Flush)
		})
	}
}

// BenchmarkDaily reads every row: the cost of a query that neither time nor the roll-up bounds.
func BenchmarkDaily(b *testing.B) {
	st, log := open(b, store.Options{QueueBytes: 1 << 30})
	const rows = 50_000
	for i := range rows {
		log.Append(record(i))
	}
	if err := st.Flush(context.Background()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := log.Daily(context.Background(), activity.Filter{Tenant: "default", Status: 200}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
}

// BenchmarkSeries asks for 30 days of a million calls of 20 keys to 5 models.
func BenchmarkSeries(b *testing.B) {
	st, log := open(b, store.Options{QueueBytes: 1 << 30})
	const rows = 1_000_000
	r := record(0)
	for i := range rows {
		r.ID, r.RequestID = fmt.Sprint("gen-", i), fmt.Sprint("req-", i)
		r.CreatedAt = noon.Add(-time.Duration(rows-i) * (30 * 24 * time.Hour / rows))
		r.Key, r.Model, r.Provider = fmt.Sprint("key", i%20), fmt.Sprint("acme/m", i/20%5), "acme"
		r.Latency = time.Duration(1+i*37%1000) * 7 * time.Millisecond
		if r.Code = ""; i%50 == 0 {
			r.Code = "upstream_error"
		}
		log.Append(r)
		if i%50_000 == 0 {
			if err := st.Flush(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, q := range []string{
		"by=model&step=day", "by=key&step=day", "by=model&step=day&tenant=default",
		"by=model&step=hour&from=2026-04-04T12:00:00Z", "by=key&step=hour&from=2026-04-04T12:00:00Z&tenant=default",
	} {
		b.Run(q, func(b *testing.B) {
			before := activitytest.CPUTime(b)
			for b.Loop() {
				activitytest.Series(b, log, q)
			}
			b.ReportMetric((activitytest.CPUTime(b)-before).Seconds()*1000/float64(b.N), "ms-cpu/op")
		})
	}
}
