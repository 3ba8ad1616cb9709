//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// maxSamples bounds the latencies that one connection keeps; it ends the measurement early when it
// is reached.
const maxSamples = 1 << 20

// load is one call, made repeatedly.
type load struct {
	request []byte
	sent    int // length of the body within request
	check   check
	model   string
	// firstEvent takes the time to the first byte of the answer as its latency, if the upstream's
	// own pace would dominate the whole time.
	firstEvent bool
	// stagger spreads the first calls of the connections over this time.
	stagger time.Duration
}

// tally is the result of a load.
type tally struct {
	calls     int
	latencies []time.Duration // sorted
	elapsed   time.Duration
}

// call makes one call that was due at due and returns its latency.
func (l load) call(ctx context.Context, c *conn, due time.Time) (time.Duration, error) {
	a, err := c.do(ctx, l.request)
	if err != nil {
		return 0, err
	}
	end := time.Now()
	if err := l.check(a, l.sent, l.model); err != nil {
		return 0, err
	}
	if l.firstEvent {
		end = a.first
	}
	return end.Sub(due), nil
}

// closedLoop lets each connection call again as soon as it has its answer, for d.
func closedLoop(ctx context.Context, conns []*conn, l load, d time.Duration) (tally, error) {
	return again(ctx, conns, l.stagger, d, func(ctx context.Context, c *conn) (time.Duration, error) {
		return l.call(ctx, c, time.Now())
	})
}

// again lets each client call again as soon as it has its answer, for d, with the first calls
// spread over stagger. All calls that have begun are finished and counted, so that CPU time read
// before and after belongs to exactly these calls. The first failure ends all.
func again[C any](ctx context.Context, clients []C, stagger, d time.Duration, call func(context.Context, C) (time.Duration, error)) (tally, error) {
	begun := time.Now()
	return together(ctx, clients, begun, func(ctx context.Context, i int, c C) ([]time.Duration, error) {
		if err := sleep(ctx, stagger*time.Duration(i)/time.Duration(len(clients))); err != nil {
			return nil, err
		}
		var samples []time.Duration
		for {
			latency, err := call(ctx, c)
			if err != nil {
				return nil, err
			}
			samples = append(samples, latency)
			if time.Since(begun) >= d || len(samples) == maxSamples {
				return samples, nil
			}
		}
	})
}

// fixedRate makes rate calls a second for d, whether or not the server keeps up. The latency of a
// call runs from the moment it was due, so waiting for a free connection counts.
func fixedRate(ctx context.Context, conns []*conn, l load, rate int, d time.Duration) (tally, error) {
	total := max(1, int64(float64(rate)*d.Seconds()))
	begun := time.Now()
	var next atomic.Int64
	return together(ctx, conns, begun, func(ctx context.Context, _ int, c *conn) ([]time.Duration, error) {
		var samples []time.Duration
		for {
			n := next.Add(1) - 1
			if n >= total {
				return samples, nil
			}
			due := begun.Add(time.Duration(n) * time.Second / time.Duration(rate))
			sleepUntil(due)
			latency, err := l.call(ctx, c, due)
			if err != nil {
				return nil, err
			}
			samples = append(samples, latency)
		}
	})
}

// sleepUntil waits in the kernel: the runtime's timers may be a millisecond late, which is several
// times the latency to be measured.
func sleepUntil(due time.Time) {
	if wait := time.Until(due); wait > 0 {
		ts := syscall.NsecToTimespec(wait.Nanoseconds())
		syscall.Nanosleep(&ts, nil)
	}
}

// together runs work once for each client, at the same time, and adds up.
func together[C any](ctx context.Context, clients []C, begun time.Time, work func(context.Context, int, C) ([]time.Duration, error)) (tally, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	samples := make([][]time.Duration, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			var err error
			if samples[i], err = work(ctx, i, c); err != nil {
				cancel(err) // the first cause stays
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return tally{}, err
	}
	t := tally{elapsed: time.Since(begun), latencies: slices.Concat(samples...)}
	t.calls = len(t.latencies)
	slices.Sort(t.latencies)
	return t, nil
}

// openers is how many held streams or sessions are opened at a time.
const openers = 16

// hold opens every connection up to its first event and leaves it open.
func hold(ctx context.Context, conns []*conn, l load) error {
	return eachOnce(ctx, len(conns), func(ctx context.Context, n int) error {
		a, err := conns[n].open(ctx, l.request)
		if err != nil {
			return fmt.Errorf("stream %d: %w", n, err)
		}
		return l.check(a, l.sent, l.model)
	})
}

// eachOnce calls work for every number below n, with a few goroutines at a time.
func eachOnce(ctx context.Context, n int, work func(context.Context, int) error) error {
	var next atomic.Int64
	_, err := together(ctx, make([]struct{}, openers), time.Now(), func(ctx context.Context, _ int, _ struct{}) ([]time.Duration, error) {
		for {
			i := int(next.Add(1) - 1)
			if i >= n {
				return nil, nil
			}
			if err := work(ctx, i); err != nil {
				return nil, err
			}
		}
	})
	return err
}

func newConns(n int, addr string) []*conn {
	conns := make([]*conn, n)
	for i := range conns {
		conns[i] = newConn(addr)
	}
	return conns
}

func closeAll(conns []*conn) {
	for _, c := range conns {
		c.close()
	}
}

// sleep waits for d or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
