package vnc

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// memory is the heap in use and the stacks, after the garbage is gone.
func memory() (heap, stacks int64) {
	var m runtime.MemStats
	for range 3 { // pools are emptied in two rounds
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.StackInuse)
}

// roundTrips moves the pointer of a live session until stopped and returns how long each echo took.
func roundTrips(w *harness.Conn, stop chan struct{}) (took []time.Duration) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-stop:
			slices.Sort(took)
			return took
		case <-tick.C:
		}
		begun := time.Now()
		w.Echo(i%1280, 1)
		took = append(took, time.Since(begun))
	}
}

// measure is roundTrips while something happens.
func measure(w *harness.Conn, meanwhile func()) []time.Duration {
	stop, took := make(chan struct{}), make(chan []time.Duration, 1)
	go func() { took <- roundTrips(w, stop) }()
	meanwhile()
	close(stop)
	return <-took
}

// Two thousand silent connections cost at most 16 KiB each, half of which are the test's own ends.
// They are closed when their step is over, and a live session does not notice them.
func TestVNCTwoThousandSilentConnectionsCostLittle(t *testing.T) {
	const connections = 2000
	most := int64(16 << 10)
	if harness.RaceDetector {
		most *= 2 // its stack frames are larger
	}
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNCHandler: both + "step_timeout 5s\nmax_pending 2100\nmax_pending_per_network 2100", VNC: d.As("one", "")})
	live := h.VNC.View(h.VNC.Issue("connect", "one", ""))
	_ = live.SetDeadline(time.Time{}) // it stays longer than others
	quiet := measure(live, func() {
		for range 100 {
			h.Client.Get("/metrics", "")
		}
	})
	onlyVNCSessions(h, 1)
	heap, stacks := memory()
	silent := make([]*harness.Conn, connections)
	var heapNow, stacksNow int64
	busy := measure(live, func() {
		for i := range silent {
			silent[i] = h.VNC.Dial("")
		}
		for _, w := range silent { // each is greeted, so each waits for an answer
			if w.Expect("RFB 003.008\n"); w.Err != nil {
				t.Fatal(w.Err)
			}
		}
		if n := h.Records.Metric("gatehouse_vnc_connections_half_open"); n != connections {
			t.Errorf("%v are half open", n)
		}
		heapNow, stacksNow = memory()
	})
	each := (heapNow - heap + stacksNow - stacks) / connections
	t.Logf("%d bytes each (%d of heap, %d of stack), the viewer's ends included", each, (heapNow-heap)/connections, (stacksNow-stacks)/connections)
	if each > most {
		t.Errorf("%d bytes each, more than %d", each, most)
	}
	for _, w := range silent {
		if !closed(w) {
			t.Fatal("a silent connection is kept")
		}
		w.Leave()
	}
	mustSucceed(h, live.Echo(1, 2))
	refusedSoon(h, "timeout", connections)
	t.Logf("pointer round trips: p99 %s before (%d), %s meanwhile (%d)", harness.P99(quiet), len(quiet), harness.P99(busy), len(busy))
}

// onlyVNCSessions waits until no connection is half open and n sessions are open.
func onlyVNCSessions(h *harness.Gateway, n float64) {
	h.T.Helper()
	if !harness.Eventually(func() bool {
		return h.Records.Metric("gatehouse_vnc_connections_half_open") == 0 && h.Records.Metric("gatehouse_vnc_sessions_open") == n
	}) {
		h.T.Error("VNC connections do not end")
	}
}
