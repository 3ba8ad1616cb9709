package harness

import (
	"fmt"
	"io"
	"net"
	"strings"
)

// Streaming asks for a stream; it is for the argument more.
const Streaming = `,"stream":true`

// Chat is the body of a chat call; more is further members, each behind a comma.
func Chat(model, more string) string {
	return `{"model":"` + model + `","messages":[{"role":"user","content":"say hello"}]` + more + `}`
}

// Responses is the body of a Responses call.
func Responses(model, more string) string {
	return `{"model":"` + model + `","input":"say hello"` + more + `}`
}

// Body is the body that fits the route.
func Body(path, model, more string) string {
	if strings.HasSuffix(path, "/responses") {
		return Responses(model, more)
	}
	return Chat(model, more)
}

// Hello is the body of a chat call with one word.
func Hello(model string) string {
	return `{"model":"` + model + `","messages":[{"role":"user","content":"hello"}]}`
}

// Behind sends a call, on its own connection, that must wait for another.
func Behind(h *Gateway, send string) (atWork *Stream, conn net.Conn, read func() Answer) {
	h.T.Helper()
	atWork = h.Client.Open(h.Client.Request(ChatV1, "full", `{"model":"fake/stall","stream":true,"messages":[{"role":"user","content":"x"}]}`))
	atWork.MustNext()
	conn, reader := h.Client.Dial()
	if _, err := io.WriteString(conn, send); err != nil {
		h.T.Fatal(err)
	}
	return atWork, conn, func() Answer { return ReadAnswer(h.T, reader) }
}

// WantInFlight waits until n calls are under way.
func WantInFlight(h *Gateway, n int) {
	h.T.Helper()
	if !Eventually(func() bool { return inFlight(h, n) }) {
		h.T.Fatalf("not %d calls are under way", n)
	}
}

// inFlight reports whether that many calls are under way, including queued ones.
func inFlight(h *Gateway, n int) bool {
	return strings.Contains(string(h.Client.Get("/metrics", "").Body), fmt.Sprintf("gatehouse_requests_in_flight %d\n", n))
}
