package tests

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// inFlight reports whether that many calls are under way, including queued ones.
func (h *harness) inFlight(n int) bool {
	return strings.Contains(string(h.get("/metrics", "").body), fmt.Sprintf("gatehouse_requests_in_flight %d\n", n))
}

// behind sends a call, on its own connection, that must wait for another.
func (h *harness) behind(send string) (atWork *stream, conn net.Conn, read func() answer) {
	h.t.Helper()
	atWork = h.open(h.request(chatV1, "full", `{"model":"fake/stall","stream":true,"messages":[{"role":"user","content":"x"}]}`))
	atWork.mustNext()
	conn, reader := h.dial()
	if _, err := io.WriteString(conn, send); err != nil {
		h.t.Fatal(err)
	}
	return atWork, conn, func() answer { return readAnswer(h.t, reader) }
}

func (h *harness) wantInFlight(n int) {
	h.t.Helper()
	if !eventually(func() bool { return h.inFlight(n) }) {
		h.t.Fatalf("not %d calls are under way", n)
	}
}

func TestADisconnectedQueuedCallHoldsNoSlot(t *testing.T) {
	h := start(t, setup{keys: limitedKey("concurrency 1 queue 1 1m")})
	body := chatBody("fake/echo")
	_, conn, _ := h.behind(head(chatV1, "full", fmt.Sprint("Content-Length: ", len(body))) + body)
	h.wantInFlight(2)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	h.wantInFlight(1)
	if n := len(h.upstream.Requests()); n != 1 {
		t.Errorf("%d calls reached the provider", n)
	}
}

func TestASlowUploadIsTurnedAwayWhenTheWaitIsOver(t *testing.T) {
	h := start(t, setup{keys: limitedKey("concurrency 1 queue 1 100ms")})
	_, _, read := h.behind(head(chatV1, "full", "Content-Length: 1000") + `{"model":`)
	wantRefusal(t, chatV1, read(), 429, "concurrency_limit_exceeded")
	h.wantInFlight(1)
}

func TestAQueuedCallIsServed(t *testing.T) {
	h := start(t, setup{keys: limitedKey("concurrency 1 queue 1 20s")})
	body := chatBody("fake/echo")
	length := fmt.Sprint("Content-Length: ", len(body))
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	for framing, sent := range map[string]string{length: body, length + "\r\nExpect: 100-continue": body, "Transfer-Encoding: chunked": chunked} {
		atWork, _, read := h.behind(head(chatV1, "full", framing) + sent)
		h.wantInFlight(2)
		atWork.disconnect()
		a := read()
		if a.status == 100 {
			a = read()
		}
		if a.status != 200 {
			t.Errorf("%s: %d %s", framing, a.status, a.body)
		}
		h.wantInFlight(0)
	}
}
