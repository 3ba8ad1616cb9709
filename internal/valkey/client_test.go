package valkey_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

var count = valkey.NewScript("count", "return redis.call('INCR', KEYS[1])").Within(100 * time.Millisecond)

func client(t testing.TB, c valkey.Config) *valkey.Client {
	t.Helper()
	made := valkey.New(c)
	t.Cleanup(made.Close)
	return made
}

func at(addresses ...string) valkey.Config { return valkey.Config{Addresses: addresses} }

// add runs the script once and returns its number.
func add(ctx context.Context, c *valkey.Client) (int64, error) {
	reply, err := c.Run(ctx, count, []string{"{t}n"}, nil)
	if err != nil {
		return 0, err
	}
	return reply.ToInt64()
}

// first runs the script once the client is connected: this machine may have no time for it.
func first(t *testing.T, c *valkey.Client) (n int64, err error) {
	t.Helper()
	within(t, 10*time.Second, "the client is connected", func() bool {
		n, err = add(t.Context(), c)
		return !errors.Is(err, valkey.ErrNotDone)
	})
	return n, err
}

// within fails the test unless the condition comes true in time.
func within(t *testing.T, limit time.Duration, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

func TestAStoppedServerCostsNothingAfterThreeMisses(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	c := client(t, at(e.Addr))
	if _, err := first(t, c); err != nil {
		t.Fatal(err)
	}
	if err := e.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		start := time.Now()
		if _, err := add(t.Context(), c); !errors.Is(err, valkey.ErrUnavailable) || errors.Is(err, valkey.ErrNotDone) {
			t.Fatalf("the effect is unknown: %v", err)
		}
		if took := time.Since(start); took < 90*time.Millisecond || took > 600*time.Millisecond {
			t.Errorf("it waited for %v", took)
		}
	}
	start := time.Now()
	for range 1000 {
		if _, err := add(t.Context(), c); !errors.Is(err, valkey.ErrNotDone) {
			t.Fatalf("%v", err)
		}
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("1000 messages to a stopped server took %v", took)
	}
	if s := c.Stats(); s.Up || s.Reason == "" || s.UnderWay != 0 {
		t.Errorf("%+v", s)
	}
	if err := e.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	within(t, 4*time.Second, "it is up again", func() bool { return c.Stats().Up })
	// Those three were done after all, each once.
	if n, err := add(t.Context(), c); err != nil || n != 5 {
		t.Errorf("%d, %v", n, err)
	}
}

func TestTheMessagesUnderWayAreBounded(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	c := client(t, at(e.Addr))
	if _, err := first(t, c); err != nil {
		t.Fatal(err)
	}
	if err := e.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var refused, unknown atomic.Int64
	var all sync.WaitGroup
	patient := count.Within(900 * time.Millisecond) // until all are sent
	for range 700 {
		all.Go(func() {
			switch _, err := c.Run(t.Context(), patient, []string{"{t}n"}, nil); {
			case errors.Is(err, valkey.ErrNotDone):
				refused.Add(1)
			case errors.Is(err, valkey.ErrUnavailable):
				unknown.Add(1)
			}
		})
	}
	all.Wait()
	if refused.Load() != 700-512 || unknown.Load() != 512 {
		t.Errorf("%d refused, %d unknown", refused.Load(), unknown.Load())
	}
	if err := e.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

func TestTheServerMayComeLater(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	e.Kill()
	c := client(t, at(e.Addr))
	if _, err := add(t.Context(), c); !errors.Is(err, valkey.ErrNotDone) {
		t.Fatalf("%v", err)
	}
	e.MustStart(t)
	within(t, 4*time.Second, "it is connected", func() bool {
		_, err := add(t.Context(), c)
		return err == nil
	})
}

func TestAMessageIsNeverSentTwice(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	p := enginetest.NewProxy(t, e.Addr)
	c := client(t, at(p.Addr))
	if _, err := add(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	p.Delay(50 * time.Millisecond) // the message arrives, its answer does not
	failed := make(chan error)
	go func() {
		_, err := add(context.Background(), c)
		failed <- err
	}()
	e.Wait(t, "GET {t}n", "2")
	p.Cut()
	if err := <-failed; !errors.Is(err, valkey.ErrUnavailable) || errors.Is(err, valkey.ErrNotDone) {
		t.Errorf("%v", err)
	}
	p.Pass()
	within(t, 4*time.Second, "it goes on", func() bool {
		n, err := add(t.Context(), c)
		if err == nil && n != 3 {
			t.Errorf("%d", n)
		}
		return err == nil
	})
}

func TestAScriptThatTheServerHasForgottenIsSentAgain(t *testing.T) {
	t.Parallel()
	c := client(t, at(enginetest.Redis(t).Addr))
	for range 2 {
		if _, err := add(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Do(t.Context(), "SCRIPT", "FLUSH"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAServerThatCannotWriteHasChangedNothing(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t, "min-replicas-to-write", "1")
	c := client(t, at(e.Addr))
	if _, err := add(t.Context(), c); !errors.Is(err, valkey.ErrNotDone) {
		t.Errorf("%v", err)
	}
}

func TestACallerWhoHasGoneSendsNothing(t *testing.T) {
	t.Parallel()
	c := client(t, at(enginetest.Redis(t).Addr))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := add(ctx, c); !errors.Is(err, context.Canceled) || !errors.Is(err, valkey.ErrNotDone) {
		t.Errorf("%v", err)
	}
}

func TestAnAddressThatSwallowsEverythingIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := client(t, at(l.Addr().String()))
	start := time.Now()
	if _, err := add(t.Context(), c); !errors.Is(err, valkey.ErrNotDone) {
		t.Errorf("%v", err)
	}
	if took := time.Since(start); took > 300*time.Millisecond {
		t.Errorf("it waited for %v", took)
	}
}

func TestCloseDoesNotWaitForAStoppedServer(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t)
	c := valkey.New(at(e.Addr))
	if _, err := add(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := e.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	c.Close()
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
	if _, err := add(t.Context(), c); !errors.Is(err, valkey.ErrNotDone) {
		t.Errorf("%v", err)
	}
}

func BenchmarkRun(b *testing.B) {
	c := client(b, at(enginetest.Redis(b).Addr))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := add(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRunParallel(b *testing.B) {
	c := client(b, at(enginetest.Redis(b).Addr))
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, err := add(b.Context(), c); err != nil {
				b.Error(err)
			}
		}
	})
}
