package valkey_test

import (
	"context"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// BenchmarkEnter measures what admission adds to a call: the median, CPU of this process, and the
// engine's time a script.
func BenchmarkEnter(b *testing.B) {
	one := []limits.Subject{rated(b, "key:a", "1000M/min")}
	three := []limits.Subject{rated(b, "key:a", "1000M/min"), rated(b, "tenant:a", "1000M/h"), rated(b, "gateway", "1000M/s")}
	slot := []limits.Subject{rated(b, "key:a", "1000M/min"), rated(b, "tenant:a", "1000M/h"), rated(b, "gateway", "1000M/s")}
	slot[0].Concurrency.Limit = 10
	steps := slices.Clone(slot)
	steps[0].Concurrency.Limit = 1000
	for _, bb := range []struct {
		name     string
		subjects []limits.Subject
	}{{"one", one}, {"three", three}, {"three-and-10-slots", slot}, {"three-and-1000-slots", steps}} {
		b.Run(bb.name, func(b *testing.B) {
			e := enginetest.Redis(b)
			g := started(b, e, "a", nil)
			enterAndLeave(b, g, bb.subjects)
			if _, err := g.engine.Do(b.Context(), "CONFIG", "RESETSTAT"); err != nil {
				b.Fatal(err)
			}
			var took []time.Duration
			before := cpu(b)
			b.ReportAllocs()
			for b.Loop() {
				began := time.Now()
				enterAndLeave(b, g, bb.subjects)
				took = append(took, time.Since(began))
			}
			b.ReportMetric(float64(cpu(b)-before)/float64(b.N)/1e3, "cpu-us/op")
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2])/1e3, "p50-us")
			b.ReportMetric(float64(took[len(took)*99/100])/1e3, "p99-us")
			reply, err := g.engine.Do(b.Context(), "INFO", "commandstats")
			if err != nil {
				b.Fatal(err)
			}
			text, _ := reply.ToString()
			b.Log(regexp.MustCompile(`cmdstat_evalsha:[^\r]*`).FindString(text))
		})
	}
}

func enterAndLeave(b *testing.B, g *peer, subjects []limits.Subject) {
	entry, err := g.limiter.Enter(context.Background(), g, subjects, nil)
	if err != nil || entry.Over != nil || entry.Busy != nil {
		b.Fatalf("%+v, %v", entry, err)
	}
	entry.Permit.Release()
}

// cpu is the time that this process has used.
func cpu(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
