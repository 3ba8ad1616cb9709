package modelcall

import (
	"net/http"
	"time"
)

// maxPiece is how much of an answer is written at once, in bytes: the client has the time limit of a
// write for each piece.
const maxPiece = 256 << 10

// watchWrite bounds the time of a write to the client, until q.watch is stopped. A client that reads
// nothing would hold its answer, and its place among the calls at once, without end: its system still
// answers the probes of TCP.
func (q *Request) watchWrite() { q.watch.Start(q.deps.Timeouts.Write, q) }

// Expire implements [watchdog.Waiter]: the client took nothing of its answer for too long.
func (q *Request) Expire() {
	_ = http.NewResponseController(ofServer(q.w)).SetWriteDeadline(time.Unix(1, 0))
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

// writePieces writes an answer in one piece.
func (q *Request) writePieces(body []byte) error {
	defer q.watch.Close()
	for {
		piece := body[:min(len(body), maxPiece)]
		q.watchWrite()
		_, err := q.w.Write(piece)
		q.watch.Stop()
		if body = body[len(piece):]; err != nil || len(body) == 0 {
			return err
		}
	}
}
