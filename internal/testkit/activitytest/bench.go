//go:build unix

package activitytest

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// CPUTime is what this process has used.
func CPUTime(b *testing.B) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// Committed measures the cost of a record, appended and committed in groups. It does not count
// processes of an engine.
func Committed(b *testing.B, group int, log interface{ Append(*activity.Record) }, flush func(context.Context) error) {
	records := make([]*activity.Record, group)
	n := 0
	var used time.Duration
	for b.Loop() {
		b.StopTimer()
		for i := range records {
			r := Call(n)
			r.ID = fmt.Sprintf("gen-%d-%020x", r.CreatedAt.Unix(), n)
			r.RequestID = fmt.Sprintf("req_%032x", n)
			records[i] = r
			n++
		}
		b.StartTimer()
		before := CPUTime(b)
		for _, r := range records {
			log.Append(r)
		}
		if err := flush(context.Background()); err != nil {
			b.Fatal(err)
		}
		used += CPUTime(b) - before
	}
	b.ReportMetric(float64(used.Nanoseconds())/1000/float64(n), "us-cpu/row")
}
