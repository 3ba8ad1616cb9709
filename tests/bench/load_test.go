//go:build linux

package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// t0 is the due time of calls whose latency does not matter.
var t0 = time.Unix(0, 0)

// TestMain makes this test binary its own upstream and relay, like the bench.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == serveCommand || os.Args[1] == relayCommand) {
		main()
		return
	}
	os.Exit(m.Run())
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func anyAnswer(answer, int, string) error { return nil }

func TestClosedLoopCountsEveryCall(t *testing.T) {
	var served atomic.Int64
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) { served.Add(1) })
	conns := newConns(3, addr)
	defer closeAll(conns)
	l := load{request: encode(addr, "/", "k", nil), check: anyAnswer}
	got, err := closedLoop(t.Context(), conns, l, 10*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if int64(got.calls) != served.Load() || got.calls < len(conns) || len(got.latencies) != got.calls {
		t.Errorf("counted %d calls and %d latencies, the server %d", got.calls, len(got.latencies), served.Load())
	}
	for i := 1; i < len(got.latencies); i++ {
		if got.latencies[i] < got.latencies[i-1] {
			t.Fatal("the latencies are not sorted")
		}
	}
}

func TestFixedRateMakesItsCallsAndCountsTheWaiting(t *testing.T) {
	const calls = 20
	release := make(chan struct{})
	var served atomic.Int64
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if served.Add(1) == 1 {
			<-release // the first call stalls until every other one is due
		}
	})
	conns := newConns(1, addr)
	defer closeAll(conns)
	const d = 20 * time.Millisecond
	time.AfterFunc(2*d, func() { close(release) })
	got, err := fixedRate(t.Context(), conns, load{request: encode(addr, "/", "k", nil), check: anyAnswer}, calls*50, d)
	if err != nil {
		t.Fatal(err)
	}
	if got.calls != calls || served.Load() != calls {
		t.Errorf("%d calls counted, %d served, want %d", got.calls, served.Load(), calls)
	}
	// One connection served them one after the other, all late: the least late was due at the end
	// of d and waited for the release at 2d.
	if got.latencies[0] < d/2 {
		t.Errorf("a call that waited for the connection shows %v", got.latencies[0])
	}
}

func TestFirstFailureEndsTheLoad(t *testing.T) {
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	conns := newConns(2, addr)
	defer closeAll(conns)
	wrong := errors.New("wrong answer")
	l := load{request: encode(addr, "/", "k", nil), check: func(a answer, _ int, _ string) error {
		if a.status != http.StatusTeapot {
			t.Errorf("status %d", a.status)
		}
		return wrong
	}}
	if _, err := closedLoop(t.Context(), conns, l, time.Hour); !errors.Is(err, wrong) {
		t.Errorf("closed loop: %v", err)
	}
	if _, err := fixedRate(t.Context(), conns, l, 1000, time.Hour); !errors.Is(err, wrong) {
		t.Errorf("fixed rate: %v", err)
	}
}

func TestCutStreamIsAnError(t *testing.T) {
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("data: {\"half"))
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	c := testConn(t, addr)
	if a, err := c.do(t.Context(), encode(addr, "/", "k", nil)); err == nil {
		t.Errorf("a cut body passed as %q", a.body)
	}
	if a, err := c.open(t.Context(), encode(addr, "/", "k", nil)); err == nil {
		t.Errorf("a cut event passed as %q", a.body)
	}
}
