package sqlite_test

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

func BenchmarkRequest(b *testing.B) {
	subjects := map[string][]limits.Subject{
		"one":   {rated(b, "key:a", "1000M/min")},
		"three": {rated(b, "key:a", "1000M/min", "1000M/s"), rated(b, "tenant:a", "1000M/min"), rated(b, "gateway", "1000M/s")},
	}
	for name, of := range subjects {
		b.Run(name, func(b *testing.B) {
			r := rates(b, time.Now)
			b.ReportAllocs()
			for b.Loop() {
				r.Ask(of)
			}
		})
	}
	b.Run("kept", func(b *testing.B) {
		r := stored(b, open(b, b.TempDir(), store.Options{}), time.Now)
		of := []limits.Subject{rated(b, "key:a", "1000M/h")}
		b.ReportAllocs()
		for b.Loop() {
			r.Ask(of)
		}
	})
	b.Run("refused", func(b *testing.B) {
		r := rates(b, time.Now)
		of := []limits.Subject{rated(b, "key:a", "1/day")}
		b.ReportAllocs()
		for b.Loop() {
			r.Ask(of)
		}
	})
	b.Run("parallel", func(b *testing.B) {
		r := rates(b, time.Now)
		var n atomic.Int64
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			of := []limits.Subject{rated(b, fmt.Sprint("key:", n.Add(1)), "1000M/min")}
			for pb.Next() {
				r.Ask(of)
			}
		})
	})
}

func BenchmarkTokens(b *testing.B) {
	r := rates(b, time.Now)
	of := []limits.Subject{rated(b, "key:a", "1000000M tokens/min")}
	b.ReportAllocs()
	for b.Loop() {
		_, g, _ := r.Take(1000, of)
		g.Adjust(10)
	}
}

// BenchmarkReserveSettle measures the cost of a call with budgets; "durable" waits for the commit.
func BenchmarkReserveSettle(b *testing.B) {
	one := []limits.Subject{budgeted(b, "key:a", "1000000usd/day")}
	three := []limits.Subject{budgeted(b, "key:a", "1000000usd/day"), budgeted(b, "tenant:a", "1000000usd/month", "1000000M tokens/day")}
	for _, bb := range []struct {
		name     string
		durable  bool
		parallel int
		of       []limits.Subject
	}{{"one", false, 0, one}, {"three", false, 0, three}, {"durable", true, 0, one}, {"durable-parallel", true, 100, one}, {"durable-three", true, 8, three}} {
		b.Run(bb.name, func(b *testing.B) {
			l, _ := openLedger(b, open(b, b.TempDir(), store.Options{QueueBytes: 1 << 30}))
			var n atomic.Int64
			call := func() {
				r := limits.ReserveRequest{Call: "call-" + strconv.FormatInt(n.Add(1), 10), At: noon, Most: limits.Amount{Nano: 100, Tokens: 100}, Subjects: bb.of, Durable: bb.durable}
				h, refusal, err := limits.Reserve(context.Background(), l, r)
				if refusal != nil || err != nil {
					b.Error(refusal, err)
					return
				}
				if err := h.Settle(context.Background(), limits.Amount{Nano: 50, Tokens: 50}); err != nil {
					b.Error(err)
				}
			}
			b.ReportAllocs()
			if bb.parallel == 0 {
				for b.Loop() {
					call()
				}
				return
			}
			b.SetParallelism(bb.parallel)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					call()
				}
			})
		})
	}
}

func BenchmarkExhausted(b *testing.B) {
	l, _ := openLedger(b, open(b, b.TempDir(), store.Options{}))
	of := []limits.Subject{budgeted(b, "key:a", "1000000usd/day")}
	_, _ = l.Reserve(context.Background(), limits.ReserveRequest{Call: "1", At: noon, Most: limits.Amount{Nano: 100}, Subjects: of})
	b.ReportAllocs()
	for b.Loop() {
		if refusal, _ := l.Exhausted(context.Background(), noon, of); refusal != nil {
			b.Fatal(refusal)
		}
	}
}
