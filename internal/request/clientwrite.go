package request

import (
	"net/http"
	"time"
)

// maxPiece is how much of an answer is written at once, in bytes: the client has the time limit of a
// write for each piece.
const maxPiece = 256 << 10

// WatchWrite bounds the time of a write to the client, until q.Watch is stopped. A client that reads
// nothing would hold its answer, and its place among the calls at once, without end: its system still
// answers the probes of TCP.
func (q *Request) WatchWrite() { q.Watch.Start(q.deps.Write, q) }

// Expire implements [watchdog.Waiter]: the client took nothing of its answer for too long.
func (q *Request) Expire() {
	_ = http.NewResponseController(ofServer(q.Writer)).SetWriteDeadline(time.Unix(1, 0))
}

// ofServer returns the server's own writer. Those around it, such as Caddy's with its idle timeout, are
// for the handler's goroutine only.
func ofServer(w http.ResponseWriter) http.ResponseWriter {
	for {
		around, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = around.Unwrap()
	}
}

// Write ends the request, whose outcome is known, and writes its answer in one piece.
func (q *Request) Write(body []byte) error {
	q.Finish()
	defer q.Watch.Close()
	for {
		piece := body[:min(len(body), maxPiece)]
		q.WatchWrite()
		_, err := q.Writer.Write(piece)
		q.Watch.Stop()
		if body = body[len(piece):]; err != nil || len(body) == 0 {
			return err
		}
	}
}
