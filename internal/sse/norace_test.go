//go:build !race

// The race detector makes pools lose their contents, so their effect is measured without it: the
// suite "pools" of make test.

package sse_test

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	for name, stream := range map[string]string{
		"chunks":     strings.Repeat(chunk, 64),
		"named":      strings.Repeat("event: x\n"+chunk, 10),
		"data lines": strings.Repeat("data: a\r\ndata: b\r\n\r\n", 10),
		"heartbeats": strings.Repeat(": wait\n\n", 10),
		"long":       "data: " + strings.Repeat("x", 50_000) + "\n\n",
	} {
		for _, step := range []int{100, 1 << 20} {
			reader := sse.NewReader(&repeating{stream: stream, step: step}, bound)
			next := func() {
				if _, err := reader.Next(); err != nil {
					t.Fatal(err)
				}
				reader.Buffered()
			}
			for range 100 {
				next()
			}
			if n := testing.AllocsPerRun(1000, next); n != 0 {
				t.Errorf("%s, %d bytes a read: %v allocations", name, step, n)
			}
		}
	}
	buffer := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		sse.AppendComment(buffer, "heartbeat of a name longer than 32 bytes")
	}); n != 0 {
		t.Errorf("writing: %v allocations", n)
	}
}

func TestAnIdleStreamHoldsLittle(t *testing.T) {
	const streams = 1000
	held := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	stream := "data: " + strings.Repeat("x", 30_000) + "\n\n" + chunk
	before := held()
	readers := make([]*sse.Reader, streams)
	for i := range readers {
		readers[i] = sse.NewReader(&silence{stream}, bound)
		for range 3 {
			if _, err := readers[i].Next(); err != nil && err != io.ErrNoProgress {
				t.Fatal(err)
			}
		}
	}
	if each := (held() - before) / streams; each > 512 {
		t.Errorf("%d bytes a stream", each)
	}
	runtime.KeepAlive(readers)
}
