package operator

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

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

var halfSentUploads = flag.Int("halfsent", 208, "uploads of TestHalfSentUploadsLeaveOtherCallersAlone")

// halfSent opens connections that each send a part of a long upload, and then nothing.
func halfSent(h *harness.Gateway, n, part, whole int) {
	h.T.Helper()
	text := []byte(harness.Head(harness.ChatV1, "other", fmt.Sprintf("Content-Length: %d", whole)) + `{"model":"` + strings.Repeat("a", part))
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range n / 16 {
				conn, err := net.Dial("tcp", strings.TrimPrefix(h.Client.Origin, "http://"))
				if err != nil {
					h.T.Error(err)
					return
				}
				h.T.Cleanup(func() { _ = conn.Close() })
				_, _ = conn.Write(text) // a refusal may come first
			}
		})
	}
	all.Wait()
}

// medianAndLast are of the times of calls that all succeed.
func medianAndLast(h *harness.Gateway, calls int) (median, last time.Duration) {
	h.T.Helper()
	var took []time.Duration
	for range calls {
		begun := time.Now()
		if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", "")); a.Status != 200 {
			h.T.Fatalf("a call meanwhile: %d %s", a.Status, a.Body)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[calls/2], took[calls*99/100]
}

// Uploads that a client leaves half-sent fill the memory of bodies, but for what small calls of others
// need. With many of them, as make halfsent has, the times of other calls are compared too.
func TestHalfSentUploadsLeaveOtherCallersAlone(t *testing.T) {
	h := harness.Start(t, harness.Setup{Options: "body_memory 64MiB", Global: keepsConnections})
	calls, many := 100, *halfSentUploads >= 2000
	if many {
		calls = 2000
	}
	median, last := medianAndLast(h, calls)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	halfSent(h, *halfSentUploads, 300<<10, 20<<20)
	var a harness.Answer
	harness.Eventually(func() bool { // the server has yet to read what was sent
		a = h.Client.Post(harness.ChatV1, "other", say("fake/echo", strings.Repeat("a", 4<<20), ""))
		return a.Status != 200
	})
	harness.WantRefusal(t, harness.ChatV1, a, 429, "gateway_busy")
	busyMedian, busyLast := medianAndLast(h, calls)
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
	h := harness.Vacant(t)
	c := h.Run(harness.Setup{})
	ends := h.Client.Open(h.Client.Request(harness.ChatV1, "full", harness.Chat("fake/step-a", harness.Streaming)))
	ends.MustNext()
	stalls := map[string]*harness.Stream{}
	for path, family := range map[string]string{harness.ChatRouter: `"error":{"code":503`, harness.ResponsesV1: `"type":"error"`} {
		s := h.Client.Open(h.Client.Request(path, "full", harness.Body(path, "fake/stall", harness.Streaming)))
		s.MustNext()
		stalls[family] = s
	}
	c.Signal(syscall.SIGTERM)
	h.Provider.Fake.Step("step-a", 100)
	events, err := ends.Rest()
	if _, whole := streamText(t, events); err != nil || !whole {
		t.Errorf("the stream that could end: %v, %v", events, err)
	}
	for family, s := range stalls {
		events, err := s.Rest()
		text := fmt.Sprint(events)
		if err != nil || harness.Whole(events) || !strings.Contains(text, "shutting down") || !strings.Contains(text, family) {
			t.Errorf("want %s: %s, %v", family, text, err)
		}
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	h.Run(harness.Setup{})
	if row := h.Records.Row(ends.Response.Header.Get("X-Request-Id")); harness.At(row, "status") != harness.Number("200") || harness.At(row, "code") != nil {
		t.Errorf("the record of the stream that could end: %v", row)
	}
	for _, s := range stalls {
		if row := h.Records.Row(s.Response.Header.Get("X-Request-Id")); harness.At(row, "status") != harness.Number("503") || harness.At(row, "code") != "shutting_down" {
			t.Errorf("record %v", row)
		}
	}
}

// A client that is gone without a word, or reads nothing more, ends with the time limit of a write, and
// the provider's stream with it.
func TestAClientThatReadsNothingMoreEnds(t *testing.T) {
	h := harness.Start(t, harness.Setup{Options: "timeouts {\nwrite 300ms\n}"})
	conn, _ := h.Client.Dial()
	defer func() { _ = conn.Close() }()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4 << 10)
	}
	body := harness.Chat("fake/huge", harness.Streaming)
	call := harness.Head(harness.ChatV1, "full", fmt.Sprintf("Content-Length: %d", len(body))) + body
	// The system may hold the first answer for the client; not both.
	if _, err := io.WriteString(conn, call+call); err != nil {
		t.Fatal(err)
	}
	if !harness.Eventually(func() bool {
		rows := h.Records.Rows("")
		return len(rows) > 0 && harness.At(rows[0], "status") == harness.Number("499")
	}) {
		t.Errorf("rows %v", h.Records.Rows(""))
	}
}
