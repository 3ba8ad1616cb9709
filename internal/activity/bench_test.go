//go:build unix

package activity_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

func cpuTime(b *testing.B) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// BenchmarkCommitted measures the cost of a record, appended and committed in groups: in SQLite, and in
// PostgreSQL, whose own processes are not counted.
func BenchmarkCommitted(b *testing.B) {
	for _, group := range []int{1, 50, 500} {
		b.Run(fmt.Sprint("group=", group), func(b *testing.B) {
			st, log := open(b, store.Options{CommitInterval: time.Hour})
			committed(b, group, log, st.Flush)
		})
		b.Run(fmt.Sprint("postgres/group=", group), func(b *testing.B) {
			n := newNode(b, enginetest.Postgres(b), "a")
			committed(b, group, n, n.writer.Flush)
		})
	}
}

func committed(b *testing.B, group int, log interface{ Append(*activity.Record) }, flush func(context.Context) error) {
	records := make([]*activity.Record, group)
	n := 0
	var used time.Duration
	for b.Loop() {
		b.StopTimer()
		for i := range records {
			r := record(n)
			r.ID = fmt.Sprintf("gen-%d-%020x", r.CreatedAt.Unix(), n)
			r.RequestID = fmt.Sprintf("req_%032x", n)
			records[i] = r
			n++
		}
		b.StartTimer()
		before := cpuTime(b)
		for _, r := range records {
			log.Append(r)
		}
		if err := flush(context.Background()); err != nil {
			b.Fatal(err)
		}
		used += cpuTime(b) - before
	}
	b.ReportMetric(float64(used.Nanoseconds())/1000/float64(n), "us-cpu/row")
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
			before := cpuTime(b)
			for b.Loop() {
				activitytest.Series(b, log, q)
			}
			b.ReportMetric((cpuTime(b)-before).Seconds()*1000/float64(b.N), "ms-cpu/op")
		})
	}
}
