package api

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A server that has begun to stream sends its errors as events, with an error status or without.
func TestAnErrorInAnEventStreamIsRead(t *testing.T) {
	var answer atomic.Value
	block, _ := rawProvider(t, func(_ int, conn net.Conn) {
		for from := bufio.NewReader(conn); readRequest(from); {
			_, _ = fmt.Fprint(conn, answer.Load())
		}
	})
	h := harness.Start(t, harness.Setup{Providers: block})
	for status, code := range map[int]string{500: "upstream_error", 503: "upstream_error", 400: "upstream_rejected"} {
		for i, body := range []string{
			`data: {"error":{"message":"no room on the card","type":"oom","code":"full"}}`,
			"data: {\"error\":{\"message\":\"no room on the card\",\"type\":\"oom\",\"code\":\"full\"}}\n\ndata: [DONE]\n\n",
			": hello\r\n\r\nevent: error\r\ndata: {\"type\":\"oom\",\"code\":\"full\",\"message\":\"no room on the card\"}\r\n\r\n",
		} {
			answer.Store(fmt.Sprintf("HTTP/1.1 %d Oh\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body))
			for _, path := range []string{harness.ChatV1, harness.ResponsesV1} {
				for _, more := range []string{"", harness.Streaming} {
					a := h.Client.Post(path, "full", harness.Body(path, "raw/m", more))
					want := status
					if status >= 500 {
						want = 502
					}
					harness.WantRefusal(t, path, a, want, code)
					lines := harness.Log.Lines(a.Header.Get("X-Request-Id"))
					if len(lines) == 0 || !strings.Contains(fmt.Sprint(lines), `code \"full\": no room on the card`) {
						t.Errorf("%d, body %d, %s%s: the log says %s", status, i, path, more, lines)
					}
					if shown := strings.Contains(string(a.Body), "no room on the card"); shown != (status == 400) {
						t.Errorf("%d, body %d: the caller gets %s", status, i, a.Body)
					}
				}
			}
		}
	}
}
