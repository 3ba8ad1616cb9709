package tests

import (
	"flag"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var halfSentUploads = flag.Int("halfsent", 208, "uploads of TestHalfSentUploadsLeaveOtherCallersAlone")

// halfSent opens connections that each send a part of a long upload, and then nothing.
func (h *harness) halfSent(n, part, whole int) {
	h.t.Helper()
	text := []byte(head(chatV1, "other", fmt.Sprintf("Content-Length: %d", whole)) + `{"model":"` + strings.Repeat("a", part))
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range n / 16 {
				conn, err := net.Dial("tcp", strings.TrimPrefix(h.origin, "http://"))
				if err != nil {
					h.t.Error(err)
					return
				}
				h.t.Cleanup(func() { _ = conn.Close() })
				_, _ = conn.Write(text) // a refusal may come first
			}
		})
	}
	all.Wait()
}

// medianAndLast are of the times of calls that all succeed.
func (h *harness) medianAndLast(calls int) (median, last time.Duration) {
	h.t.Helper()
	var took []time.Duration
	for range calls {
		begun := time.Now()
		if a := h.post(chatV1, "full", chat("fake/echo", "")); a.status != 200 {
			h.t.Fatalf("a call meanwhile: %d %s", a.status, a.body)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[calls/2], took[calls*99/100]
}

// Uploads that a client leaves half-sent fill the memory of bodies, but for what small calls of others
// need. With many of them, as make halfsent has, the times of other calls are compared too.
func TestHalfSentUploadsLeaveOtherCallersAlone(t *testing.T) {
	h := start(t, setup{options: "body_memory 64MiB", global: keepsConnections})
	calls, many := 100, *halfSentUploads >= 2000
	if many {
		calls = 2000
	}
	median, last := h.medianAndLast(calls)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	h.halfSent(*halfSentUploads, 300<<10, 20<<20)
	var a answer
	eventually(func() bool { // the server has yet to read what was sent
		a = h.post(chatV1, "other", say("fake/echo", strings.Repeat("a", 4<<20), ""))
		return a.status != 200
	})
	wantRefusal(t, chatV1, a, 429, "gateway_busy")
	busyMedian, busyLast := h.medianAndLast(calls)
	runtime.ReadMemStats(&after)
	if more := int64(after.Sys) - int64(before.Sys); more > 64<<20+256<<20 {
		t.Errorf("%d MiB more are taken from the system", more>>20)
	}
	if many && busyLast >= 2*max(last, time.Millisecond) { // below it a busy machine decides
		t.Errorf("the 99th percentile of other calls was %s, and is %s", last, busyLast)
	}
	t.Logf("%d MiB more; median and 99th percentile: %s %s before, %s %s with %d half-sent uploads", (int64(after.Sys)-int64(before.Sys))>>20, median, last, busyMedian, busyLast, *halfSentUploads)
}

// With SIGTERM a stream has the grace period to end, and is whole then. One that has not ended gets the
// error event of its API, and both have a record.
func TestAStreamMayEndWithinTheGracePeriod(t *testing.T) {
	h := vacant(t)
	c := h.run(setup{})
	ends := h.open(h.request(chatV1, "full", chat("fake/step-a", streaming)))
	ends.mustNext()
	stalls := map[string]*stream{}
	for path, family := range map[string]string{chatRouter: `"error":{"code":503`, responsesV1: `"type":"error"`} {
		s := h.open(h.request(path, "full", bodyFor(path, "fake/stall", streaming)))
		s.mustNext()
		stalls[family] = s
	}
	c.signal(syscall.SIGTERM)
	h.upstream.Step("step-a", 100)
	events, err := ends.rest()
	if _, whole := streamText(t, events); err != nil || !whole {
		t.Errorf("the stream that could end: %v, %v", events, err)
	}
	for family, s := range stalls {
		events, err := s.rest()
		text := fmt.Sprint(events)
		if err != nil || whole(events) || !strings.Contains(text, "shutting down") || !strings.Contains(text, family) {
			t.Errorf("want %s: %s, %v", family, text, err)
		}
	}
	if err := c.wait(); err != nil {
		t.Error(err)
	}
	h.run(setup{})
	if row := h.row(ends.resp.Header.Get("X-Request-Id")); at(row, "status") != number("200") || at(row, "code") != nil {
		t.Errorf("the record of the stream that could end: %v", row)
	}
	for _, s := range stalls {
		if row := h.row(s.resp.Header.Get("X-Request-Id")); at(row, "status") != number("503") || at(row, "code") != "shutting_down" {
			t.Errorf("record %v", row)
		}
	}
}

// A client that is gone without a word, or reads nothing more, ends with the time limit of a write, and
// the provider's stream with it.
func TestAClientThatReadsNothingMoreEnds(t *testing.T) {
	h := start(t, setup{options: "timeouts {\nwrite 300ms\n}"})
	conn, _ := h.dial()
	defer func() { _ = conn.Close() }()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4 << 10)
	}
	body := chat("fake/huge", streaming)
	if _, err := io.WriteString(conn, head(chatV1, "full", fmt.Sprintf("Content-Length: %d", len(body)))+body); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool {
		rows := h.allRows("")
		return len(rows) == 1 && at(rows[0], "status") == number("499")
	}) {
		t.Errorf("rows %v", h.allRows(""))
	}
}
