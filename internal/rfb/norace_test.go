//go:build !race

// The race detector changes what is allocated and what a goroutine holds.

package rfb_test

import (
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

func TestFilteringDoesNotAllocate(t *testing.T) {
	in := []byte(strings.Join(everyMessage, ""))
	for _, p := range []rfb.Policy{{}, strict, {ViewOnly: true}} {
		f := rfb.NewFilter(p)
		out := make([]byte, 0, 2*len(in))
		now := start
		push := func() {
			now = now.Add(10 * time.Millisecond)
			for rest := in; len(rest) > 0; rest = rest[min(7, len(rest)):] {
				var err error
				if out, err = f.Push(out[:0], rest[:min(7, len(rest))], now); err != nil {
					t.Fatal(err)
				}
			}
		}
		push()
		if n := testing.AllocsPerRun(100, push); n != 0 {
			t.Errorf("%+v: %v allocations", p, n)
		}
	}
}

// Thousands may connect and never speak. What their pipe holds is counted too.
func TestASilentViewerHoldsLittle(t *testing.T) {
	const viewers = 1000
	held := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	o := offer("x509none x509plain")
	before := held()
	var conns []net.Conn
	ended := make(chan struct{}, viewers)
	for range viewers {
		conn, viewer := net.Pipe()
		conns = append(conns, viewer)
		go func() {
			rfb.NewServer(conn, rfb.Timeouts{}).Negotiate(o)
			ended <- struct{}{}
		}()
		if _, err := readN(viewer, 12); err != nil {
			t.Fatal(err)
		}
	}
	each := (held() - before) / viewers
	for _, c := range conns {
		c.Close()
		<-ended
	}
	t.Logf("%d bytes a silent viewer", each)
	if each > 8<<10 {
		t.Errorf("%d bytes a silent viewer", each)
	}
}
