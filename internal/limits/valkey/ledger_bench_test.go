package valkey_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// BenchmarkReserveAndSettle is what a call waits for, over the loopback. It also tells the median and the
// time that the engine spends on scripts.
func BenchmarkReserveAndSettle(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprint("subjects=", n), func(b *testing.B) {
			engine := enginetest.Redis(b)
			g := join(b, engine.Addr, "a", nil, valkey.LedgerConfig{})
			var subjects []limits.Subject
			for i := range n {
				subjects = append(subjects, limits.Subject{Name: fmt.Sprint("key:", i), Budgets: []limits.Budget{budget(b, "9000000usd/day")}})
			}
			before := scriptTime(b, engine.Addr)
			times := make([]time.Duration, 0, b.N)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				began, call := time.Now(), fmt.Sprint("call-", i)
				if refusal, err := g.Exhausted(b.Context(), began, subjects); refusal != nil || err != nil {
					b.Fatal(refusal, err)
				}
				r := limits.ReserveRequest{Call: call, At: began, Most: limits.Amount{Nano: 1000}, Subjects: subjects, Durable: true}
				if refusal, err := g.Reserve(b.Context(), r); refusal != nil || err != nil {
					b.Fatal(refusal, err)
				}
				if err := g.Settle(b.Context(), call, limits.Amount{Nano: 900}); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			if _, err := g.Status(b.Context(), time.Now(), nil); err != nil {
				b.Fatal(err)
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-us")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-us")
			b.ReportMetric((scriptTime(b, engine.Addr)-before)/float64(len(times)), "engine-us/op")
		})
	}
}

// BenchmarkEngineTime is the time that the engine spends on a reservation, on a settlement alone in its
// message, and on one among others, as they are when calls end faster than messages travel.
func BenchmarkEngineTime(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprint("subjects=", n), func(b *testing.B) {
			engine := enginetest.Redis(b)
			g := join(b, engine.Addr, "a", nil, valkey.LedgerConfig{})
			var subjects []limits.Subject
			for i := range n {
				subjects = append(subjects, limits.Subject{Name: fmt.Sprint("key:", i), Budgets: []limits.Budget{budget(b, "9000000usd/day")}})
			}
			calls := 0
			for b.Loop() {
				calls++
				r := limits.ReserveRequest{Call: fmt.Sprint("call-", calls), At: time.Now(), Most: limits.Amount{Nano: 1000}, Subjects: subjects, Durable: true}
				if refusal, err := g.Reserve(b.Context(), r); refusal != nil || err != nil {
					b.Fatal(refusal, err)
				}
			}
			start := scriptTime(b, engine.Addr)
			b.ReportMetric(start/float64(calls), "us/reserve")
			settle := func(from, to int, each bool) float64 {
				before := scriptTime(b, engine.Addr)
				for i := from; i < to; i++ {
					if err := g.Settle(b.Context(), fmt.Sprint("call-", i+1), limits.Amount{Nano: 900}); err != nil {
						b.Fatal(err)
					}
					if each {
						flushed(b, g)
					}
				}
				flushed(b, g)
				return (scriptTime(b, engine.Addr) - before) / float64(max(to-from, 1))
			}
			b.ReportMetric(settle(0, calls/2, true), "us/settle-alone")
			b.ReportMetric(settle(calls/2, calls, false), "us/settle-grouped")
		})
	}
}

// flushed waits until the settlements of a gateway are made.
func flushed(t testing.TB, g gateway) {
	t.Helper()
	if _, err := g.Status(t.Context(), time.Now(), nil); err != nil {
		t.Fatal(err)
	}
}

// scriptTime is what the engine has spent on scripts, in microseconds.
func scriptTime(t testing.TB, addr string) (usec float64) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "INFO commandstats\r\nQUIT\r\n"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		var calls int
		var spent float64
		for _, command := range []string{"evalsha", "eval"} {
			if rest, ok := strings.CutPrefix(lines.Text(), "cmdstat_"+command+":"); ok {
				if _, err := fmt.Sscanf(rest, "calls=%d,usec=%g", &calls, &spent); err != nil {
					t.Fatal(err)
				}
				usec += spent
			}
		}
	}
	return usec
}
