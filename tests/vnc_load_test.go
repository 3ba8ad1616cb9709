package tests

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
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
func (w *wire) roundTrips(stop chan struct{}) (took []time.Duration) {
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
		w.echo(i%1280, 1)
		took = append(took, time.Since(begun))
	}
}

func p99(sorted []time.Duration) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)*99/100]
}

// measure is roundTrips while something happens.
func (w *wire) measure(meanwhile func()) []time.Duration {
	stop, took := make(chan struct{}), make(chan []time.Duration, 1)
	go func() { took <- w.roundTrips(stop) }()
	meanwhile()
	close(stop)
	return <-took
}

// Two thousand silent connections cost at most 16 KiB each, half of which are the test's own ends.
// They are closed when their step is over, and a live session does not notice them.
func TestVNCTwoThousandSilentConnectionsCostLittle(t *testing.T) {
	const connections = 2000
	most := int64(16 << 10)
	if raceDetector {
		most *= 2 // its stack frames are larger
	}
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vncHandler: both + "step_timeout 5s\nmax_pending 2100\nmax_pending_per_network 2100", vnc: d.as("one", "")})
	live := h.view(h.issue("connect", "one", ""))
	_ = live.SetDeadline(time.Time{}) // it stays longer than others
	quiet := live.measure(func() {
		for range 100 {
			h.get("/metrics", "")
		}
	})
	h.onlyVNCSessions(1)
	heap, stacks := memory()
	silent := make([]*wire, connections)
	var heapNow, stacksNow int64
	busy := live.measure(func() {
		for i := range silent {
			silent[i] = h.dialVNC("")
		}
		for _, w := range silent { // each is greeted, so each waits for an answer
			if w.hear("RFB 003.008\n"); w.err != nil {
				t.Fatal(w.err)
			}
		}
		if n := h.metric("gatehouse_vnc_connections_half_open"); n != connections {
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
		if !w.closed() {
			t.Fatal("a silent connection is kept")
		}
		w.leave()
	}
	h.good(live.echo(1, 2))
	h.refusedSoon("timeout", connections)
	t.Logf("pointer round trips: p99 %s before (%d), %s meanwhile (%d)", p99(quiet), len(quiet), p99(busy), len(busy))
}

// onlyVNCSessions waits until no connection is half open and n sessions are open.
func (h *harness) onlyVNCSessions(n float64) {
	h.t.Helper()
	if !eventually(func() bool {
		return h.metric("gatehouse_vnc_connections_half_open") == 0 && h.metric("gatehouse_vnc_sessions_open") == n
	}) {
		h.t.Error("VNC connections do not end")
	}
}

func TestVNCTwoThousandSessionsLeaveNothingBehind(t *testing.T) {
	const batches, batch, slack = 20, 100, 0.05
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: "on_conflict share\n" + d.as("one", "")})
	a := h.issue("connect", "one", "")
	round := func() {
		var all sync.WaitGroup
		gate := make(chan struct{})
		for i := range batch {
			all.Go(func() {
				w := h.tlsFirstFrom(fmt.Sprintf("127.0.7.%d", 1+i%4), a.host).accepted().echo(i, i)
				<-gate
				if w.echo(1, 1); w.err == nil && i%2 == 0 { // half of them close in order
					if w.err = w.halfClose(); w.err == nil {
						_, w.err = io.Copy(io.Discard, w)
					}
				}
				if w.leave(); w.err != nil {
					t.Error(w.err)
				}
			})
		}
		if !eventually(func() bool { return h.metric("gatehouse_vnc_sessions_open") == batch || t.Failed() }) {
			t.Errorf("%v of %d sessions are open", h.metric("gatehouse_vnc_sessions_open"), batch)
		}
		close(gate)
		all.Wait()
		h.vncClosed()
	}
	settled := func() (goroutines int, heap int64) {
		h.http.CloseIdleConnections()
		logs.reset()
		eventually(func() bool { return d.none() })
		heap, _ = memory()
		return runtime.NumGoroutine(), heap
	}
	round() // pools and tables are warm
	goroutines, heap := settled()
	for range batches {
		round()
	}
	var goroutinesNow int
	var heapNow int64
	ok := eventually(func() bool {
		goroutinesNow, heapNow = settled()
		return goroutinesNow <= goroutines
	})
	growth := float64(heapNow-heap) / float64(heap)
	t.Logf("%d sessions: goroutines %d, then %d; heap %d, then %d (%+.1f %%)", batches*batch, goroutines, goroutinesNow, heap, heapNow, 100*growth)
	if !ok {
		t.Errorf("%d goroutines, %d before", goroutinesNow, goroutines)
	}
	if growth > slack {
		t.Errorf("the heap has grown by %.1f %%", 100*growth)
	}
	if n := h.metric(`gatehouse_vnc_sessions_total{ended="viewer_left",security="TLSFirst"}`); n != (batches+1)*batch {
		t.Errorf("%v sessions were counted", n)
	}
}

// none reports whether no connection to the workstation is open.
func (d *vncServer) none() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open) == 0
}
